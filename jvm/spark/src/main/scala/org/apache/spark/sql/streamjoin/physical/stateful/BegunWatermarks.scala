package org.apache.spark.sql.streamjoin.physical.stateful

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.model.Watermarks

/**
 * What all partitions of a join have seen as a batch begins.
 *
 * @param lastActiveMs when each input last brought a row; none: it is not known yet
 */
private[physical] final case class BegunWatermarks(
    watermarks: Array[Long],
    lastActiveMs: Array[Option[Long]]
)

/**
 * What one partition has stored at the end of a batch.
 *
 * @param now the watermarks of the source columns by which it has evicted
 * @param lastActiveMs when each input last brought a row, as far as it knows
 */
private[physical] final case class PartitionWatermarks(
    partition: Int,
    now: Seq[Long],
    lastActiveMs: Seq[Long],
    batchTimeMs: Long
)

private[physical] object PartitionWatermarks {

  /** The number with the time of the batch. */
  val BatchTime: String = "batchTime"

  /** What a partition has stored; none: it has had no batch. */
  def stored(
      partition: Int,
      columns: Int,
      numbers: StoredNumbers
  ): Option[PartitionWatermarks] = numbers.get(BatchTime).map { batchTimeMs =>
    PartitionWatermarks(
      partition,
      BaseWatermarks.stored(columns, numbers).toSeq,
      (0 until columns).map(BaseWatermarks.storedActive(_, numbers).getOrElse(batchTimeMs)),
      batchTimeMs
    )
  }

  /** What all of them have seen, as it would have been known behind a shuffle at the end of their batch. */
  def all(
      some: Seq[PartitionWatermarks],
      bases: Seq[BaseColumn],
      rivals: Map[Int, Set[Int]]
  ): BegunWatermarks =
    if (some.isEmpty)
      BegunWatermarks(
        bases.map(_ => Watermarks.Unknown).toArray,
        bases.map(_ => Option.empty[Long]).toArray
      )
    else {
      val arrived = bases.indices.map(i => some.map(_.now(i)).max).toArray
      val active = bases.indices.map(i => some.map(_.lastActiveMs(i)).max).toArray
      BegunWatermarks(
        BaseWatermarks.settled(bases, rivals, arrived, active, some.map(_.batchTimeMs).max),
        active.map(Some(_))
      )
    }
}

/**
 * What the partitions of one join tell of their batches, in one run of its query; on the driver.
 *
 * A batch begins with what those of the batch before have told: within a run by accumulators, in its first batch by
 * what lies beside their rows, which is the same. So a batch that runs again, in this run or the next, begins with the
 * same.
 */
private[physical] final class ToldWatermarks {

  private var begun: Option[(Long, BegunWatermarks)] = None
  private var last: Option[(Long, CollectionAccumulator[PartitionWatermarks])] = None

  /**
   * @param version with which the batch begins
   * @param partitions how many there are
   * @param settle what all of them have seen
   * @param read what each has stored
   */
  def at(version: Long, partitions: Int, settle: Seq[PartitionWatermarks] => BegunWatermarks)(
      read: => Seq[PartitionWatermarks]
  ): BegunWatermarks = synchronized {
    begun.collect { case (`version`, known) => known }.getOrElse {
      val of = last.collect { case (before, told) if before == version - 1 => distinct(told) }
      val known = settle(of.filter(_.length == partitions).getOrElse(read))
      begun = Some(version -> known)
      known
    }
  }

  /** The batch that begins with a version is about to run, and its tasks will tell. */
  def listen(version: Long, told: CollectionAccumulator[PartitionWatermarks]): Unit =
    synchronized { last = Some(version -> told) }

  /** What the tasks of the batch that begins with a version have told; nothing if it has not run. */
  def of(version: Long): Seq[PartitionWatermarks] = synchronized {
    last.collect { case (`version`, told) => distinct(told) }.getOrElse(Nil)
  }

  /** A task that ran twice has told the same twice. */
  private def distinct(told: CollectionAccumulator[PartitionWatermarks]) =
    told.value.asScala.map(t => t.partition -> t).toMap.values.toSeq
}

private[physical] object ToldWatermarks {

  val ofRuns = new OperatorsOfRuns[ToldWatermarks]
}
