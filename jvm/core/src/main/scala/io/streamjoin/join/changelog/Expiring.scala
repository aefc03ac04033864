package io.streamjoin.join.changelog

import io.streamjoin.model.Side

import ChangelogCounters.Count

/** An operator whose rows leave by themselves, beside those that are taken away. */
trait Expiring {

  /**
   * Takes rows out of which a limit is below its clock.
   *
   * @param side a side whose rows have limits
   * @param before the clocks, by limit, when this was done last
   * @param now the same now
   * @param why as what they count
   */
  def expire(side: Side, before: Array[Long], now: Array[Long], why: Count): Unit
}
