package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.physical.stateful.{
  BatchReport,
  ExtremeNumbers,
  PartitionCounts
}
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.TaskLoad
import io.streamjoin.join.Counters

/**
 * The accumulators through which the tasks of an event-time join report to the driver.
 *
 * @param common the report of every stateful operator
 * @param furthest see [[JoinExtremes]]
 * @param sketched see [[StoredDisorder]]
 * @param held the earliest times of the buffered rows, if an operator above requires them
 * @param loads the load of each task by key, if the join may spread hot keys
 */
private[physical] final case class EventTimeReport(
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
      counters: Counters
  )(ofColumn: Int => Boolean): Unit = {
    disorder.save(numbers)
    sketched.add(partition -> disorder.counts(ofColumn))
    furthest.add(JoinExtremes.of(counters, disorder.seen))
  }

  /** Stores the latest times of a partition at the end of a batch, and reports its load. */
  def addLoad(partition: Int, numbers: StoredNumbers, load: StoredKeyLoad): Unit = {
    load.save(numbers)
    loads.foreach(_.add(load.report(partition)))
  }
}
