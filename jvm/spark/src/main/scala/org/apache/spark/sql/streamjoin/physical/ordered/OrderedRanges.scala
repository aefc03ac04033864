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
 * Brings rows that carry the number of their range of times into partitions of which each is above
 * those before it. How many, and where one ends, is decided by how many bytes there are: what is little
 * is one partition.
 */
private[ordered] object OrderedRanges {

  private val LeastBytes = 1L << 20

  /**
   * Runs the rows up to their exchange and reads that by ranges.
   *
   * @param input rows with the number of their range
   * @param single whether one partition is wanted, however large
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

  /** Neighbours together, as long as they have no more than the bytes that are wanted. */
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
