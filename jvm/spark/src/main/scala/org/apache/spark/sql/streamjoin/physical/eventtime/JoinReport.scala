package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.physical.stateful.{
  BatchReport,
  ExtremeNumbers,
  PartitionCounts
}
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.{JoinCounters, TaskLoad}
import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/**
 * The accumulators through which the tasks of an event-time join report to the driver.
 *
 * @param common the report of every stateful operator
 * @param furthest see [[JoinExtremes]]
 * @param sketched see [[StoredDisorder]]
 * @param held the earliest times of the buffered rows, if an operator above requires them
 * @param loads the load of each task by key, if the join may spread hot keys
 */
private[physical] final case class JoinReport(
    common: BatchReport,
    furthest: ExtremeNumbers,
    sketched: PartitionCounts,
    held: Option[ExtremeNumbers],
    loads: Option[CollectionAccumulator[TaskLoad]] = None
) {

  /**
   * Stores the disorder of a partition at the end of a batch, and reports it to the driver.
   *
   * @param ofColumn whether this partition counts the rows of a column; of a copied input, only one
   *   partition does
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

  /** Stores the latest times of a partition at the end of a batch, and reports its load. */
  def addLoad(partition: Int, numbers: StoredNumbers, load: StoredKeyLoad): Unit = {
    load.save(numbers)
    loads.foreach(_.add(load.told(partition)))
  }
}

private[physical] object JoinReport {

  /**
   * The metrics of a partition in a batch of two inputs.
   *
   * @param countsIn whether this partition counts the rows of an input; of a copied input, only one
   *   partition does
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
