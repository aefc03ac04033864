package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/**
 * How the operator looks at rows, whatever they are made of.
 *
 * @tparam R a row of either input, as it is kept
 */
trait ChangelogRows[R] {

  /** Whether rows of the side have a unique key; else they are told apart by all their columns, and counted. */
  def keyed(side: Side): Boolean

  /** A hash of the unique key, or of the whole row; the number by which a row is found among those of its join key. */
  def identity(side: Side, row: R): Long

  /** Whether two rows have one unique key, where the side has one. */
  def sameUniqueKey(side: Side, a: R, b: R): Boolean

  /** Which of two rows of one unique key is later; 0 where nothing tells. */
  def compareSequence(side: Side, a: R, b: R): Int

  /**
   * An order of all rows of a side; 0 for rows that are equal in each column, but for a sequence that
   * nobody asks for.
   */
  def compare(side: Side, a: R, b: R): Int

  /**
   * Whether the row can match at all as far as its own columns tell: no NULL in an equality, and each
   * conjunct on this input alone holds.
   */
  def joinable(side: Side, row: R): Boolean

  /** Whether the whole condition holds for the two rows. */
  def matches(left: R, right: R): Boolean

  /**
   * What the condition sees of a row, for `equals`: rows of a side that are equal in it have the same
   * partners. It outlives the call.
   */
  def seen(side: Side, row: R): AnyRef

  /**
   * Whether a row that can match nothing, and does not come out alone, is held all the same: older changes
   * of its key are told by it.
   */
  def remembered(side: Side, row: R): Boolean

  /**
   * A sign that the key of a row is gone, by which older changes of it are told; it matches nothing, and
   * leaves as the row would. None: nothing is to be kept, or it would never leave.
   *
   * @param row as it went
   * @param before what was held of its key: has what the change does not tell
   */
  def tombstone(side: Side, row: R, before: Option[R]): Option[R]

  /** Whether it is such a sign. */
  def isTombstone(side: Side, row: R): Boolean

  /** The row where it is shown by the state, such that it outlives the call. */
  def copy(side: Side, row: R): R

  /**
   * Whether a change is late, by the times of its row and whatever its kind: rows that it would concern
   * may have left the state.
   */
  def late(side: Side, row: R): Boolean

  /** Whether rows leave by when they were written, so that equal ones may leave at different times. */
  def agesByWrite(side: Side): Boolean

  /**
   * Whether a write of a row that is held as it is comes out, as an update of which both images are equal: rows above
   * age by when they were written, too.
   */
  def reportsWrites(side: Side): Boolean

  /**
   * Whether a row that is not held may have expired by `state_ttl`. False if the side has none, or if the time
   * of the row tells that its age has not ended.
   */
  def mayHaveExpired(side: Side, row: R): Boolean

  /**
   * Whether a change of a row deletes or replaces the expired one of its join key: there is at most one, and
   * rows leave by `state_ttl` alone.
   */
  def settlesExpired(side: Side): Boolean

  /** How many limits rows of the side have, each with a clock of its own. */
  def limitCount(side: Side): Int

  /** The clocks beyond which the row goes; `Long.MaxValue`: never. */
  def limits(side: Side, row: R, into: Array[Long]): Unit
}
