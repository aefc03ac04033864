package io.streamjoin.join.eventtime

import io.streamjoin.model.{BySide, HotKey, HotKeys, ReachBuckets, Side}

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
 * Which keys are spread from the next batch on: those with many rows, where a task is then done in three fifths of its time.
 * To spread rows is not free: some lie twice, and all take a step more on their way. A key that is spread once stays
 * so.
 *
 * @param minRows of a key in a batch; fewer are no work
 * @param minBuckets how many of the buckets of time a batch spans: of fewer, one task has most rows at a time.
 *   0: every key with many rows is spread, whatever that brings
 * @param taskBuckets how many buckets of a batch each task has at least where they are wider than they must be
 */
final case class HotKeyRule(minRows: Long, minBuckets: Int, taskBuckets: Int = 8) {
  import HotKeyRule._

  /** @return keys that are to be spread, and are not yet */
  def found(loads: Seq[TaskLoad], known: HotKeys, partitions: Int): Seq[HotKey] = {
    val all = loads.map(_.rows).sum
    val candidates = for {
      load <- loads
      wider = width(load, known.buckets, partitions)
      (hash, rows) <- load.heaviest
      if rows >= minRows && rows > all / partitions / 2 && !known.contains(hash)
      if minBuckets == 0 ||
        spans(load, known.buckets) && shortens(load, rows, all, wider, partitions)
    } yield rows -> HotKey(
      hash,
      load.partition,
      firstBucket(load, known.buckets.wider(wider)),
      wider
    )
    if (partitions == 1) Nil
    else {
      candidates
        .sortBy { case (rows, key) => (-rows, key.hash) }
        .map(_._2)
        .distinctBy(_.hash)
        .take(MaxKeys - known.size)
    }
  }

  private def spans(load: TaskLoad, buckets: ReachBuckets): Boolean =
    load.span / buckets.width >= minBuckets

  /**
   * Rows near an edge lie twice, so buckets are wider where a batch spans many for each task. Not by much: later
   * batches may be shorter, as they are once a query has caught up.
   */
  private def width(load: TaskLoad, buckets: ReachBuckets, partitions: Int): Int =
    Iterator
      .iterate(Widest)(_ / 2)
      .find(times =>
        times == 1 || load.span / buckets.width / times >= taskBuckets.toLong * partitions
      )
      .get

  /** Of the narrowest buckets, a fourth of a key's rows lie twice when it is spread. */
  private def shortens(
      load: TaskLoad,
      rows: Long,
      all: Long,
      wider: Int,
      partitions: Int
  ): Boolean = load.rows * Worth > (all + rows / (4 * wider)) / partitions

  /** All rows of the key that are buffered lie before it. */
  private def firstBucket(load: TaskLoad, buckets: ReachBuckets): Long =
    Side.both.map(side => buckets.home(side, load.latest(side))).max + 1
}

object HotKeyRule {

  /** How many keys are spread at most; more of them are no single keys that one task is too few for. */
  val MaxKeys: Int = 1000

  /** A task is to be done in less than this part of its time. */
  private val Worth = 0.6

  /** How many times as wide as they must be buckets are at most. */
  private val Widest = 4
}
