package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers

import io.streamjoin.join.eventtime.{KeyLoad, TaskLoad}
import io.streamjoin.model.{BySide, Side, Watermarks}

/**
 * What a partition sees of its keys in a batch. The latest times are kept beside its rows, for a key can only be
 * spread after all rows that are held.
 *
 * @param before the latest times of earlier batches; none: there are rows of a checkpoint that did not keep them,
 *   and as long as there are, no key of the partition is spread
 */
private[eventtime] final class StoredKeyLoad(before: Option[BySide[Long]]) {
  import StoredKeyLoad._

  val load = new KeyLoad(before.getOrElse(Nothing))

  /** Writes what has changed. */
  def save(numbers: StoredNumbers): Unit =
    for (known <- before; side <- Side.both if load.latest(side) != known(side))
      numbers.put(latest(side), load.latest(side))

  def told(partition: Int): TaskLoad =
    TaskLoad(
      partition,
      load.seen,
      if (before.isEmpty) Map.empty else load.heaviest,
      load.span,
      load.latest
    )
}

private[eventtime] object StoredKeyLoad {

  private val Nothing = BySide(Watermarks.Unknown, Watermarks.Unknown)

  private def latest(side: Side): String = s"latest.${side.index}"

  /** @param holdsRows whether the partition has rows as the batch begins */
  def open(numbers: StoredNumbers, holdsRows: Boolean): StoredKeyLoad = {
    val found = BySide.of(side => numbers.get(latest(side)))
    val known = Side.both.exists(found(_).nonEmpty) || !holdsRows
    new StoredKeyLoad(Option.when(known)(found.map(_.getOrElse(Watermarks.Unknown))))
  }
}
