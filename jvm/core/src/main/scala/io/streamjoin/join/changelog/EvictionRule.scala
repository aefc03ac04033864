package io.streamjoin.join.changelog

import io.streamjoin.bounds.{JoinBounds, RowTimes}
import io.streamjoin.model.{BySide, Side}

/**
 * Eviction rule of changelog joins: the times of a row by which it is evicted, and when. If a
 * time is below its clock, no change of the row, and none of a partner, can arrive that is not
 * late.
 *
 * {{{
 *   clock of a time = min(its watermark, largest of (watermark - slack) of the other input)
 * }}}
 *
 * Rule R27 of `docs/internals/rules.md`.
 *
 * @param alone whether rows have no partners at all, so that only their own changes count
 * @param evicts if false, no watermark evicts a row, and no change is late
 */
final case class EvictionRule(bounds: JoinBounds, alone: Boolean, evicts: Boolean = true) {

  private val watermarked = BySide.of(bounds.watermarked(_).toArray)

  /** The columns by which rows of a side are evicted; none: they stay until they are deleted. */
  def columns(side: Side): IndexedSeq[Int] =
    if (evicts) watermarked(side).toIndexedSeq.filter(alone || bounds.watermarkedInOutput(_))
    else IndexedSeq.empty

  /** Whether some rows are evicted, so that late changes cannot be applied. */
  val exists: Boolean = Side.both.exists(columns(_).nonEmpty)

  /** @param received the watermarks, by column */
  def clock(column: Int, received: Array[Long]): Long =
    if (alone) received(column) else bounds.outputWatermark(column, received)

  /** Whether a time of the row is strictly below its watermark. A row without a time is not late. */
  def late(side: Side, times: RowTimes, received: Array[Long]): Boolean = exists && {
    val own = watermarked(side)
    var i = 0
    while (i < own.length && (times.isNull(own(i)) || times(own(i)) >= received(own(i)))) i += 1
    i < own.length
  }
}

/** An operator whose rows are evicted by watermark, or expire by `state_ttl`. */
trait Expiring {

  /**
   * Removes the rows that have expired: of which a limit is below its clock.
   *
   * @param side a side whose rows have limits
   * @param before the clocks, by limit, at the last call of either method
   * @param now the clocks now
   */
  def expire(side: Side, before: Array[Long], now: Array[Long]): Unit

  /** The same for rows that watermarks evict. */
  def evict(side: Side, before: Array[Long], now: Array[Long]): Unit
}
