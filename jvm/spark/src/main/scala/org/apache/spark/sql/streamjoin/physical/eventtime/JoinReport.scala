package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.physical.stateful.{
  BatchReport,
  EarliestTimes,
  LargestNumbers,
  PartitionCounts
}
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.{JoinCounters, TaskLoad}
import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/**
 * What the tasks of one batch of a join by event time tell the driver.
 *
 * @param common what the tasks of every stateful operator tell
 * @param furthest see [[JoinExtremes]]
 * @param sketched see [[StoredDisorder]]
 * @param held the earliest times of what is held, where an operator above asks for them
 * @param loads what the tasks see of their keys, where keys with many rows may be spread
 */
private[physical] final case class JoinReport(
    common: BatchReport,
    furthest: LargestNumbers,
    sketched: PartitionCounts,
    held: Option[EarliestTimes],
    loads: Option[CollectionAccumulator[TaskLoad]] = None
) {

  /**
   * What a partition has seen of its rows' times by the end of a batch: stored, and told to the driver.
   *
   * @param ofColumn whether this partition's rows of a column count: of a copied input one partition's do
   */
  def addTimes(
      partition: Int,
      numbers: StoredNumbers,
      disorder: StoredDisorder,
      counters: JoinCounters
  )(ofColumn: Int => Boolean): Unit = {
    disorder.save(numbers)
    sketched.add(partition -> disorder.counts(ofColumn))
    furthest.add(JoinExtremes.of(counters, disorder.seen))
  }

  /** What a partition has seen of its keys by the end of a batch: the latest times stored, all told to the driver. */
  def addLoad(partition: Int, numbers: StoredNumbers, load: StoredKeyLoad): Unit = {
    load.save(numbers)
    loads.foreach(_.add(load.told(partition)))
  }
}

private[physical] object JoinReport {

  /**
   * What a partition's metrics say of a batch of two inputs.
   *
   * @param countsIn whether this partition counts what came of an input: of a copied one, one partition does
   */
  def rows(counters: JoinCounters, buffered: JoinState[UnsafeRow])(
      countsIn: Side => Boolean
  ): Map[String, Long] = {
    def here(side: Side, rows: Long): Long = if (countsIn(side)) rows else 0L
    def late(side: Side): Long = here(side, counters.lateRows(side))
    Side.both.flatMap { side =>
      val name = side.name.capitalize
      Seq(
        s"inputRows$name" -> here(side, counters.inputRows(side)),
        s"lateRows$name" -> late(side),
        s"nullTimeRows$name" -> here(side, counters.nullTimeRows(side)),
        s"evictedRows$name" -> counters.evictedRows(side),
        s"bufferedRows$name" -> buffered.size(side)
      )
    }.toMap ++ Map(
      "numRowsDroppedByWatermark" -> Side.both.map(late).sum,
      "numRemovedStateRows" -> Side.both.map(counters.evictedRows).sum,
      "joinedRows" -> counters.joinedRows,
      "nullPaddedRows" -> counters.nullPaddedRows
    )
  }
}
