package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers

import io.streamjoin.join.eventtime.KeyLoad
import io.streamjoin.model.{BySide, Side, Watermarks}

/**
 * The latest times of the load of a partition by key. They are stored beside the rows, because a hot
 * key can only be spread from a time after all buffered rows.
 */
private[streamjoin] object StoredKeyLoad {

  /** The name of the latest time of a side. */
  def latest(side: Side): String = s"latest.${side.index}"

  def isPart(name: String): Boolean = Side.both.exists(latest(_) == name)

  private def stored(numbers: StoredNumbers, side: Side): Long =
    numbers.get(latest(side)).getOrElse(Watermarks.Unknown)

  private[eventtime] def open(numbers: StoredNumbers): KeyLoad =
    new KeyLoad(BySide.of(stored(numbers, _)))

  /** Writes the times that have changed. */
  private[eventtime] def save(load: KeyLoad, numbers: StoredNumbers): Unit =
    for (side <- Side.both if load.latest(side) != stored(numbers, side))
      numbers.put(latest(side), load.latest(side))
}
