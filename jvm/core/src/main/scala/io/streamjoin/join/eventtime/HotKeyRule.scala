package io.streamjoin.join.eventtime

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.{HotKey, HotKeys, ReachBuckets}

/**
 * Report of one task on the keys of its rows, at the end of a batch.
 *
 * @param rows that may match, without replicas
 * @param heaviest about how many rows the heaviest keys have, by hash
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
 * Rule that selects the keys to spread from the next batch on: keys with many rows, if
 * spreading them shortens the task to three fifths of its time. Spreading has a cost: some rows
 * are stored twice, and all take one more step. A key that is spread once stays so.
 *
 * @param minRows least rows of a key in a batch; fewer are no load
 * @param minBuckets how many time buckets a batch must span. With fewer, one task has most rows
 *   at a time. 0: every key with many rows is spread, whatever the gain
 * @param taskBuckets how many buckets of a batch each task has at least, if they are wider than
 *   needed
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
   * Rows near an edge are stored twice, so buckets are wider if a batch spans many of them for
   * each task. The factor is limited: later batches may be shorter, once a query has caught up.
   */
  private def width(load: TaskLoad, buckets: ReachBuckets, partitions: Int): Int =
    Iterator
      .iterate(Widest)(_ / 2)
      .find(times =>
        times == 1 || load.span / buckets.width / times >= taskBuckets.toLong * partitions
      )
      .get

  /** Spreading stores a fourth of the rows of a key twice, in the narrowest buckets. */
  private def shortens(
      load: TaskLoad,
      rows: Long,
      all: Long,
      wider: Int,
      partitions: Int
  ): Boolean = load.rows * Worth > (all + rows / (4 * wider)) / partitions

  /** All buffered rows of the key are before it. */
  private def firstBucket(load: TaskLoad, buckets: ReachBuckets): Long =
    Side.both.map(side => buckets.bucketOf(side, load.latest(side))).max + 1
}

object HotKeyRule {

  /** The most keys that are spread: more of them are not single keys that overload a task. */
  val MaxKeys: Int = 1000

  /** The part of its time in which a task must finish. */
  private val Worth = 0.6

  /** The most that buckets are widened. */
  private val Widest = 4
}
