package io.streamjoin.join.eventtime

import io.streamjoin.model.{BySide, HotKey, HotKeys, Side}

/**
 * What one task tells of the keys of its rows at the end of a batch.
 *
 * @param rows that may match, guests not counted
 * @param heaviest about how many rows the keys with most rows have, by hash
 * @param latest by side, the latest time of a row that it may have buffered
 */
final case class TaskLoad(
    partition: Int,
    rows: Long,
    heaviest: Map[Long, Long],
    latest: BySide[Long]
)

/**
 * Which keys are spread from the next batch on: those with many rows, and more than half of what a task would have
 * if all had alike. A key that is spread once stays so, for next to nothing.
 *
 * @param minRows of a key in a batch; fewer are no work
 */
final case class HotKeyRule(minRows: Long) {
  import HotKeyRule._

  /** @return keys that are to be spread, and are not yet */
  def found(loads: Seq[TaskLoad], known: HotKeys, partitions: Int): Seq[HotKey] = {
    val all = loads.map(_.rows).sum
    val candidates = for {
      load <- loads
      (hash, rows) <- load.heaviest
      if rows >= minRows && rows > all / partitions / 2 && !known.contains(hash)
    } yield rows -> HotKey(hash, load.partition, firstBucket(load, known))
    if (partitions == 1) Nil
    else {
      candidates
        .sortBy { case (rows, key) => (-rows, key.hash) }
        .map(_._2)
        .distinctBy(_.hash)
        .take(MaxKeys - known.size)
    }
  }

  /** All rows of the key that are buffered lie before it. */
  private def firstBucket(load: TaskLoad, known: HotKeys): Long =
    Side.both.map(side => known.buckets.home(side, load.latest(side))).max + 1
}

object HotKeyRule {

  /** How many keys are spread at most; more of them are no single keys that one task is too few for. */
  val MaxKeys: Int = 1000
}
