package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/**
 * Accessors of rows of any representation, for the operator.
 *
 * @tparam R a row of either input, as it is stored
 */
trait ChangelogRows[R] {

  /** The rows of an input. */
  def apply(side: Side): InputRows[R]

  /** Whether the whole condition holds for the two rows. */
  def matches(left: R, right: R): Boolean

  /** The same for a row of `side` and one of the other side. */
  final def pairs(side: Side, row: R, other: R): Boolean =
    if (side == Side.Left) matches(row, other) else matches(other, row)
}

/** Accessors of the rows of one input. */
trait InputRows[R] {

  /**
   * Whether rows have a unique key; otherwise they are identified by all columns,
   * and counted.
   */
  def keyed: Boolean

  /**
   * A hash of the unique key, or of the whole row: the time by which the state finds a row of a
   * join key.
   */
  def identity(row: R): Long

  /**
   * A total order of what identifies a row: its unique key, or without one the row as in
   * [[compare]].
   */
  def compareIdentity(a: R, b: R): Int

  /** Compares the sequences of two rows of one unique key; 0 if they are equal or unknown. */
  def compareSequence(a: R, b: R): Int

  /**
   * A total order of the rows; 0 for rows that are equal in each column, except for a
   * sequence that is not required.
   */
  def compare(a: R, b: R): Int

  /**
   * Whether the row can match by its own columns: no NULL in an equality, and each condition on
   * this input alone holds.
   */
  def joinable(row: R): Boolean

  /**
   * The columns of a row in the condition, for `equals`: equal rows have the same
   * partners. It outlives the call.
   */
  def seen(row: R): AnyRef

  /**
   * Whether a row is stored that can match nothing and is not emitted alone: older changes of
   * its key are recognized by it.
   */
  def remembered(row: R): Boolean

  /**
   * Tombstone of the key of a deleted row, by which older changes of it are recognized. It
   * matches nothing, and expires as the row would. None: not required, or it would never
   * expire.
   *
   * @param row the delete
   * @param before the stored row of its key: it has the columns that the change lacks
   */
  def tombstone(row: R, before: Option[R]): Option[R]

  /** Whether the row is a tombstone. */
  def isTombstone(row: R): Boolean

  /** A copy of a row of the state that outlives the call. */
  def copy(row: R): R

  /**
   * Whether a change is late, by the times of its row and for any kind: the rows that it would
   * change may have left the state.
   */
  def late(row: R): Boolean

  /**
   * Whether rows expire by the time of their last write, so that equal rows may expire at
   * different times.
   */
  def agesByWrite: Boolean

  /**
   * Whether a write of an unchanged row is emitted, as an update with equal images: rows above
   * expire by the time of their last write, too.
   */
  def reportsWrites: Boolean

  /**
   * Whether a row that is not stored may have expired by `state_ttl`, and has results. False if rows
   * have no TTL, if their expiry is a delete, or if the time of the row shows that its TTL has not
   * ended.
   */
  def mayHaveExpired(row: R): Boolean

  /**
   * Whether the expiry of a row is a delete, which retracts its results. Otherwise it emits nothing.
   */
  def retractsExpired: Boolean

  /**
   * Whether the row has expired at the end of the batch, if its expiry is a delete. Such a row is
   * not stored.
   */
  def expired(row: R): Boolean

  /**
   * Whether a row is marked while it has results with the other input, because rows may expire
   * without a delete. False if watermarks evict rows: then a mark means that a partner was evicted.
   */
  def marksMatched: Boolean

  /** The number of limits of a row, each with a clock of its own. */
  def limitCount: Int

  /** The clocks beyond which the row leaves the state; `Long.MaxValue`: never. */
  def limits(row: R, into: Array[Long]): Unit
}
