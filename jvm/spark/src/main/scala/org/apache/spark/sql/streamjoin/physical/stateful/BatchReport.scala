package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * What the tasks of one batch tell the driver: in a few accumulators, since each is written for every task, read
 * by it and brought back, however little it says.
 *
 * @param emitted counts the rows that come out
 * @param ofPartitions what else is counted, by partition
 * @param watermarks what was received at the end of the batch, by time column
 * @param lastActiveMs when each source last brought a row, in milliseconds
 */
private[physical] final class BatchReport(
    val emitted: SQLMetric,
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
    ofPartitions.add(partition -> counts)
    watermarks.add(received)
    lastActiveMs.add(active)
  }
}
