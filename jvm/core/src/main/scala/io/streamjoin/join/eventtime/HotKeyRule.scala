package io.streamjoin.join.eventtime

import io.streamjoin.model.{BySide, HotKey, HotKeys, Side}

/**
 * What one task tells of the keys of its rows at the end of a batch.
 *
 * @param rows that may match, guests not counted
 * @param heaviest about how many rows the keys with most rows have, by hash
 * @param span how far apart the times of its rows are in this batch
 * @param latest by side, the latest time of a row that it may have buffered
 */
final case class TaskLoad(
    partition: Int,
    rows: Long,
    heaviest: Map[Long, Long],
    span: Long,
    latest: BySide[Long]
)

/**
 * Which keys are spread from the next batch on: those with many rows, where a task is then done in half of the time.
 * To spread rows is not free: some lie twice, and all take a step more on their way. A key that is spread once stays
 * so.
 *
 * @param minRows of a key in a batch; fewer are no work
 * @param minBuckets how many of the buckets of time a batch spans: of fewer, one task has most rows at a time.
 *   0: every key with many rows is spread, whatever that brings
 */
final case class HotKeyRule(minRows: Long, minBuckets: Int) {
  import HotKeyRule._

  /** @return keys that are to be spread, and are not yet */
  def found(loads: Seq[TaskLoad], known: HotKeys, partitions: Int): Seq[HotKey] = {
    val all = loads.map(_.rows).sum
    val candidates = for {
      load <- loads
      (hash, rows) <- load.heaviest
      if rows >= minRows && rows > all / partitions / 2 && !known.contains(hash)
      if minBuckets == 0 || spans(load, known) && shortens(load, rows, all, partitions)
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

  private def spans(load: TaskLoad, known: HotKeys): Boolean =
    load.span / known.buckets.width >= minBuckets

  /** A fourth of a key's rows lie twice when it is spread. */
  private def shortens(load: TaskLoad, rows: Long, all: Long, partitions: Int): Boolean =
    load.rows / 2 > (all + rows / 4) / partitions

  /** All rows of the key that are buffered lie before it. */
  private def firstBucket(load: TaskLoad, known: HotKeys): Long =
    Side.both.map(side => known.buckets.home(side, load.latest(side))).max + 1
}

object HotKeyRule {

  /** How many keys are spread at most; more of them are no single keys that one task is too few for. */
  val MaxKeys: Int = 1000
}
