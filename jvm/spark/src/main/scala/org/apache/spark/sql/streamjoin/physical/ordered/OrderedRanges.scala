package org.apache.spark.sql.streamjoin.physical.ordered

import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.CoalescedPartitionSpec
import org.apache.spark.sql.execution.metric.SQLMetric

import io.streamjoin.join.ordered.TimeBuckets

/**
 * Brings rows that carry the number of their range of times into partitions of which each is above
 * those before it. How many, and where one ends, is decided by how many bytes there are: what is little
 * is one partition.
 */
private[ordered] object OrderedRanges {

  private val LeastBytes = 1L << 20

  /**
   * Runs the rows up to a shuffle and reads that by ranges.
   *
   * @param chunks of rows of one range, with its number
   * @param fields how many columns a row has
   * @param single whether one partition is wanted, however large
   * @param largest how many bytes a partition should have at most
   */
  def of(
      chunks: RDD[Product2[Int, InternalRow]],
      fields: Int,
      single: Boolean,
      largest: Long,
      metrics: Map[String, SQLMetric]
  ): RDD[InternalRow] = {
    val shuffle = RowShuffle.run(chunks, TimeBuckets.Count, metrics)
    val bytes = shuffle.bytes
    val wanted =
      if (single) Long.MaxValue
      else math.max(LeastBytes, math.min(largest, bytes.sum / chunks.context.defaultParallelism))
    shuffle.read(ranges(bytes, wanted), fields)
  }

  /** Neighbours together, as long as they have no more than the bytes that are wanted. */
  private[ordered] def ranges(bytes: Array[Long], wanted: Long): Seq[CoalescedPartitionSpec] = {
    val ends = mutable.ArrayBuffer.empty[Int]
    var size = 0L
    for (i <- bytes.indices) {
      if (size > 0 && bytes(i) > 0 && size + bytes(i) > wanted) {
        ends += i
        size = 0L
      }
      size += bytes(i)
    }
    ends += bytes.length
    (0 +: ends.toSeq).zip(ends.toSeq).map { case (from, to) => CoalescedPartitionSpec(from, to) }
  }
}
