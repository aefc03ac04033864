package io.streamjoin.join.changelog

import io.streamjoin.join.Count
import io.streamjoin.model.Side

/** An operator whose rows are evicted or expire, apart from deletes. */
trait Expiring {

  /**
   * Removes the rows of which a limit is below its clock.
   *
   * @param side a side whose rows have limits
   * @param before the clocks, by limit, at the last call
   * @param now the clocks now
   * @param why the counter of the removed rows
   */
  def expire(side: Side, before: Array[Long], now: Array[Long], why: Count): Unit
}
