package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * An input of a shuffle.
 *
 * @param rows rows with partition numbers
 * @param partitions the number of partitions
 * @param fields the number of columns
 * @param bytes metric of the size of the rows
 * @param count metric of the number of rows
 */
private[physical] final case class ExchangeInput(
    rows: RDD[NumberedRow],
    partitions: Int,
    fields: Int,
    bytes: SQLMetric,
    count: SQLMetric
) {

  /**
   * The rows with the partition numbers of the shuffle, in one reused object.
   *
   * @param first the number of the input's first partition
   */
  def numbered(first: Int): RDD[NumberedRow] = {
    val (bytes, count) = (this.bytes, this.count)
    rows.mapPartitionsInternal(_.map { numbered =>
      bytes += numbered.row.asInstanceOf[UnsafeRow].getSizeInBytes
      count += 1
      numbered.to(first + numbered.number, numbered.row)
    })
  }
}
