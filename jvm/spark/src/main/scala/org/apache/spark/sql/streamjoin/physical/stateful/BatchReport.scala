package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * What the tasks of one batch tell the driver.
 *
 * @param metrics by name, as Spark's SQL tab shows them: a partition that is run twice counts twice there
 * @param ofPartitions the same counts, of each partition once
 * @param watermarks what was received at the end of the batch, by time column
 * @param lastActiveMs when each source last brought a row, in milliseconds
 */
private[physical] final class BatchReport(
    val metrics: Map[String, SQLMetric],
    ofPartitions: PartitionCounts,
    watermarks: LargestNumbers,
    lastActiveMs: LargestNumbers
) extends Serializable {

  def add(
      partition: Int,
      counts: Map[String, Long],
      received: Array[Long],
      active: Array[Long]
  ): Unit = {
    counts.foreach { case (name, value) => metrics(name) += value }
    ofPartitions.add(partition -> counts)
    watermarks.add(received)
    lastActiveMs.add(active)
  }
}
