package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Accumulators to which the tasks of one batch report.
 *
 * They are few, because Spark serializes each accumulator for every task and returns it to the
 * driver.
 *
 * @param emitted counts the output rows
 * @param ofPartitions all other counts, by partition
 * @param watermarks the watermark of each time column at the end of the batch
 * @param lastActiveMs the time at which each source last had a row, in milliseconds
 */
private[physical] final class BatchReport(
    val emitted: SQLMetric,
    ofPartitions: PartitionCounts,
    watermarks: ExtremeNumbers,
    lastActiveMs: ExtremeNumbers
) extends Serializable {

  def add(
      partition: Int,
      counts: Map[String, Long],
      received: Array[Long],
      active: Array[Long]
  ): Unit = {
    ofPartitions.add(partition -> counts)
    watermarks.add(received)
    lastActiveMs.add(active)
  }
}
