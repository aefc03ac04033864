package io.streamjoin.join.eventtime

import io.streamjoin.bounds.RowTimes
import io.streamjoin.model.Side

/**
 * Accessors of rows of any representation, for the operator.
 *
 * @tparam R a row of either input
 */
trait JoinRows[R] {

  /** Reads the time columns of a row. */
  def readTimes(side: Side, row: R, into: RowTimes): Unit

  /**
   * Whether the row can match by its own columns: no null in an equality key, and each
   * condition on this input alone holds.
   */
  def joinable(side: Side, row: R): Boolean

  /** Whether a join below emitted the row as late. */
  def foundLate(side: Side, row: R): Boolean = false

  /**
   * A hash of the equality key, also of a null key. Equal keys have equal hashes; the condition
   * decides the rest.
   */
  def key(side: Side, row: R): Long

  /**
   * The partition of the key of a row, while the key is not spread. Equal keys have one
   * partition; keys with equal hashes need not. [[io.streamjoin.placement.ReachBuckets.NoPartition]] if
   * equal hashes are always equal keys.
   */
  def partition(side: Side, row: R, partitions: Int): Int

  /**
   * Whether the whole condition holds for two joinable rows, of which a probe found one for the
   * other.
   *
   * @param ordinary whether the times that the probe compared are all
   *   [[io.streamjoin.bounds.Saturated.isOrdinary]], so that no sum of them overflows
   */
  def matches(left: R, right: R, ordinary: Boolean): Boolean
}
