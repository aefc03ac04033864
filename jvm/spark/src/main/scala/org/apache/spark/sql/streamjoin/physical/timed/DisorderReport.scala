package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.streamjoin.checkpoint.StoredNumbers
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{
  BatchReport,
  ExtremeNumbers,
  NumberedValues
}

import io.streamjoin.join.Counters

/**
 * The accumulators through which the tasks of a join by event time report to the driver.
 *
 * @param common the report of every stateful operator
 * @param furthest see [[JoinExtremes]]
 * @param sketched see [[StoredDisorder]]
 */
private[physical] final case class DisorderReport(
    common: BatchReport,
    furthest: ExtremeNumbers,
    sketched: NumberedValues[Map[String, Long]]
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
    sketched.add(partition -> disorder.counts(ofColumn))
    furthest.add(JoinExtremes.of(counters, disorder.seen, StoredCompleteness.ahead(numbers, now)))
  }
}
