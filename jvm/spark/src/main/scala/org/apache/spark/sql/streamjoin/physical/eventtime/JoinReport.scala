package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.physical.stateful.{
  BatchReport,
  EarliestTimes,
  LargestNumbers,
  PartitionCounts
}
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.{JoinCounters, TaskLoad}

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
