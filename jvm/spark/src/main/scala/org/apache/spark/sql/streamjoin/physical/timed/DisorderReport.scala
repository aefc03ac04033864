package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{BatchReport, NumberedValues}

import io.streamjoin.join.Counters

/**
 * The accumulators through which the tasks of a join by event time report to the driver.
 *
 * @param common the report of every stateful operator
 * @param times of each partition, see [[StoredDisorder]] and [[JoinExtremes]]
 */
private[physical] final case class DisorderReport(
    common: BatchReport,
    times: NumberedValues[(Map[String, Long], Array[Long])]
) {

  /**
   * Stores the disorder of a partition at the end of a batch, and reports it to the driver.
   *
   * @param now the watermarks at the end of the batch, by column
   * @param ofColumn whether this partition counts the rows of a column; of a copied input, only one
   *   partition does
   */
  def addTimes(
      partition: Int,
      numbers: StoredNumbers,
      disorder: StoredDisorder,
      counters: Counters,
      now: Array[Long]
  )(ofColumn: Int => Boolean): Unit = {
    disorder.save(numbers)
    val incomplete = StoredCompleteness.ahead(numbers, now)
    val extremes = JoinExtremes.of(counters, disorder.seen, incomplete)
    times.add(partition -> (disorder.counts(ofColumn) -> extremes))
  }
}
