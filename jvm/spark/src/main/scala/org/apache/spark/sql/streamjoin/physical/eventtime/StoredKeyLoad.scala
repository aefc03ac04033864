package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers

import io.streamjoin.join.eventtime.{KeyLoad, TaskLoad}
import io.streamjoin.model.{BySide, Side, Watermarks}

/**
 * The load of a partition by key in a batch. The latest times are stored beside the rows, because a
 * hot key can only be spread from a time after all buffered rows.
 *
 * @param before the latest times of earlier batches. None if the checkpoint did not store them and
 *   the partition has rows; then no key of the partition is spread
 */
private[eventtime] final class StoredKeyLoad(before: Option[BySide[Long]]) {
  import StoredKeyLoad._

  val load = new KeyLoad(before.getOrElse(Nothing))

  /** Writes the times that have changed. */
  def save(numbers: StoredNumbers): Unit =
    for (known <- before; side <- Side.both if load.latest(side) != known(side))
      numbers.put(latest(side), load.latest(side))

  def report(partition: Int): TaskLoad =
    TaskLoad(
      partition,
      load.seen,
      if (before.isEmpty) Map.empty else load.heaviest,
      load.span,
      load.latest
    )
}

private[streamjoin] object StoredKeyLoad {

  private val Nothing = BySide(Watermarks.Unknown, Watermarks.Unknown)

  /** The name of the latest time of a side. */
  def latest(side: Side): String = s"latest.${side.index}"

  def isPart(name: String): Boolean = Side.both.exists(latest(_) == name)

  /** @param holdsRows whether the partition has rows at the start of the batch */
  private[eventtime] def open(numbers: StoredNumbers, holdsRows: Boolean): StoredKeyLoad = {
    val found = BySide.of(side => numbers.get(latest(side)))
    val known = Side.both.exists(found(_).nonEmpty) || !holdsRows
    new StoredKeyLoad(Option.when(known)(found.map(_.getOrElse(Watermarks.Unknown))))
  }
}
