package org.apache.spark.sql.streamjoin.physical.ordered

import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.physical.exchange.{
  ExchangeInput,
  ExchangeShuffle,
  InlineOutputs
}

/**
 * Range-partitions rows by time bucket: each partition is above the ones before it. The number of
 * partitions follows from the size of the rows. A small batch has one.
 */
private[ordered] object OrderedRanges {

  private val LeastBytes = 1L << 20

  /**
   * Runs the map stage of the exchange, and reads its output by ranges.
   *
   * @param input rows with the numbers of their buckets
   * @param single whether one partition is required, of any size
   */
  def of(input: ExchangeInput, single: Boolean, conf: SQLConf): RDD[InternalRow] = {
    val context = input.rows.context
    val exchange = ExchangeShuffle.of(context, Seq(input), InlineOutputs.most(conf))
    val bytes = exchange.run()
    val largest = conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
    val wanted =
      if (single) Long.MaxValue
      else math.max(LeastBytes, math.min(largest, bytes.sum / context.defaultParallelism))
    exchange.rows(0, ranges(bytes, wanted))
  }

  /** Combines neighbouring buckets up to the wanted size. */
  private[ordered] def ranges(bytes: Array[Long], wanted: Long): Seq[(Int, Int)] = {
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
    (0 +: ends.toSeq).zip(ends.toSeq)
  }
}
