package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.physical.stateful.{
  BatchReport,
  EarliestTimes,
  LargestNumbers,
  PartitionCounts
}

import io.streamjoin.join.eventtime.JoinCounters

/**
 * What the tasks of one batch of a join by event time tell the driver.
 *
 * @param common what the tasks of every stateful operator tell
 * @param furthest see [[JoinExtremes]]
 * @param sketched see [[StoredDisorder]]
 * @param held the earliest times of what is held, where an operator above asks for them
 */
private[physical] final case class JoinReport(
    common: BatchReport,
    furthest: LargestNumbers,
    sketched: PartitionCounts,
    held: Option[EarliestTimes]
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
}
