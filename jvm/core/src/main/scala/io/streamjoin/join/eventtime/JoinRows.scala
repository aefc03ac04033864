package io.streamjoin.join.eventtime

import io.streamjoin.bounds.RowTimes
import io.streamjoin.model.Side

/**
 * How the operator looks at rows, whatever they are made of.
 *
 * @tparam R a row of either input
 */
trait JoinRows[R] {

  /** Fills in the time columns of the row's own side. */
  def readTimes(side: Side, row: R, into: RowTimes): Unit

  /**
   * Whether the row can match at all as far as its own columns tell: no null in an equality key, and
   * each conjunct on this input alone holds.
   */
  def joinable(side: Side, row: R): Boolean

  /** Whether the row comes from a join below, which found it late and emitted it as such. */
  def foundLate(side: Side, row: R): Boolean = false

  /**
   * A hash of the equality key, also where that is null; equal keys have equal hashes, the condition tells the
   * rest.
   */
  def key(side: Side, row: R): Long

  /**
   * The partition, of so many, in which the rows of the row's key are as long as they are in one; equal keys are in
   * one, those with equal hashes need not be. Where equal hashes are equal keys it may be
   * [[io.streamjoin.model.HotKeys.Whichever]].
   */
  def partition(side: Side, row: R, partitions: Int): Int

  /**
   * Whether the whole condition holds for two joinable rows of which a probe found one for the other.
   *
   * @param ordinary whether the times that the probe compared are all [[io.streamjoin.bounds.Saturated.isOrdinary]], so that no
   *   sum of them fails
   */
  def matches(left: R, right: R, ordinary: Boolean): Boolean
}
