package io.streamjoin.join.asof

import io.streamjoin.model.Side

/**
 * Accessors of rows of any representation, for the operator.
 *
 * @tparam R a row of either input; two of them with the same content are equal
 */
trait AsOfRows[R] {

  def isTimeless(side: Side, row: R): Boolean

  /** The time of a row that has one. */
  def time(side: Side, row: R): Long

  /**
   * Whether the row can match: no null in an equality key, and the conditions on its side alone
   * hold.
   */
  def joinable(side: Side, row: R): Boolean

  /** A hash of the equality key; equal keys have equal hashes. */
  def key(side: Side, row: R): Long

  /** Whether two build rows with one hash have one key. */
  def sameKey(one: R, other: R): Boolean

  /** Whether a probe row has the key of a build row with the same hash. */
  def hasKeyOf(probe: R, build: R): Boolean

  /**
   * Whether a build row ends the validity of the one before it and matches nothing itself, as the
   * delete of a version does.
   */
  def ends(build: R): Boolean

  /** An order of build rows of one time that does not depend on their arrival. */
  def compareTied(side: Side, one: R, other: R): Int

  /** Whether the whole condition holds. */
  def matches(left: R, right: R): Boolean

  /** A copy that outlives the next row. */
  def copy(row: R): R
}
