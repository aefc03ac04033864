package org.apache.spark.sql.streamjoin.physical.ordered

import scala.concurrent.duration.Duration

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.{CoalescedPartitionSpec, ShuffledRowRDD, UnsafeRowSerializer}
import org.apache.spark.sql.streamjoin.physical.stateful.RowChunk
import org.apache.spark.sql.streamjoin.spark.ShuffleWriteProcessor
import org.apache.spark.util.ThreadUtils
import org.apache.spark.{Partitioner, ShuffleDependency}

/**
 * Chunks of rows that have been written to a shuffle by the numbers that they carried.
 *
 * @param bytes how many there are of each number
 */
private[ordered] final class RowShuffle private (
    shuffle: ShuffleDependency[Int, InternalRow, InternalRow],
    metrics: Map[String, SQLMetric],
    val bytes: Array[Long]
) {

  /**
   * The rows by ranges of their numbers; each overwrites the one before.
   *
   * @param fields how many columns a row has
   */
  def read(ranges: Seq[CoalescedPartitionSpec], fields: Int): RDD[InternalRow] =
    new ShuffledRowRDD(shuffle, metrics, ranges.toArray)
      .mapPartitionsInternal(_.flatMap(c => RowChunk.rows(c.asInstanceOf[UnsafeRow], fields)))
}

private[ordered] object RowShuffle {

  /**
   * Runs the rows up to a shuffle.
   *
   * @param chunks of rows of one number, see [[RowChunk]]
   * @param count above all numbers that they carry
   */
  def run(
      chunks: RDD[Product2[Int, InternalRow]],
      count: Int,
      metrics: Map[String, SQLMetric]
  ): RowShuffle = {
    val shuffle = new ShuffleDependency[Int, InternalRow, InternalRow](
      chunks,
      new ByNumber(count),
      new UnsafeRowSerializer(RowChunk.columns.length, metrics("dataSize")),
      None,
      None,
      false,
      writer(metrics)
    )
    val written = ThreadUtils.awaitResult(chunks.context.submitMapStage(shuffle), Duration.Inf)
    new RowShuffle(shuffle, metrics, written.bytesByPartitionId)
  }

  private def writer(metrics: Map[String, SQLMetric]): ShuffleWriteProcessor =
    ShuffleExchangeExec.createShuffleWriteProcessor(metrics)

  private final class ByNumber(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  }
}
