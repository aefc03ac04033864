package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers

import io.streamjoin.join.eventtime.{KeyLoad, TaskLoad}
import io.streamjoin.model.{BySide, Side, Watermarks}

/**
 * The load of a partition by key in a batch. The latest times are stored beside the rows, because a
 * hot key can only be spread from a time after all buffered rows.
 *
 * @param before the latest times of earlier batches
 */
private[eventtime] final class StoredKeyLoad(before: BySide[Long]) {
  import StoredKeyLoad._

  val load = new KeyLoad(before)

  /** Writes the times that have changed. */
  def save(numbers: StoredNumbers): Unit =
    for (side <- Side.both if load.latest(side) != before(side))
      numbers.put(latest(side), load.latest(side))

  def report(partition: Int): TaskLoad =
    TaskLoad(partition, load.seen, load.heaviest, load.span, load.latest)
}

private[streamjoin] object StoredKeyLoad {

  /** The name of the latest time of a side. */
  def latest(side: Side): String = s"latest.${side.index}"

  def isPart(name: String): Boolean = Side.both.exists(latest(_) == name)

  private[eventtime] def open(numbers: StoredNumbers): StoredKeyLoad =
    new StoredKeyLoad(BySide.of(side => numbers.get(latest(side)).getOrElse(Watermarks.Unknown)))
}
