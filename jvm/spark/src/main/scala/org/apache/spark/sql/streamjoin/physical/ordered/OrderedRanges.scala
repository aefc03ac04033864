package org.apache.spark.sql.streamjoin.physical.ordered

import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, UnsafeRow}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.physical.exchange.{
  ExchangeInput,
  ExchangeShuffle,
  InlineOutputs,
  RowSorter,
  RowsByBytes
}

/**
 * Range-partitions rows by time bucket: each partition is above the ones before it. The number of
 * partitions follows from the size of the rows. A small batch has one. Then sorts each partition.
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
    val exchange =
      ExchangeShuffle.of(context, Seq(input), InlineOutputs.most(context, conf), context.isLocal)
    val bytes = exchange.run()
    val largest = conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
    val wanted =
      if (single) Long.MaxValue
      else math.max(LeastBytes, math.min(largest, bytes.sum / context.defaultParallelism))
    exchange.rows(0, ranges(bytes, wanted))
  }

  /**
   * The rows of a range by time, then by the tie-breakers, then by their bytes. The last step makes
   * a batch deterministic that runs again. Runs in a task.
   */
  def sorted(spec: OrderSpec, columns: Seq[Attribute])(
      rows: Iterator[InternalRow]
  ): Iterator[InternalRow] =
    if (rows.isEmpty) Iterator.empty
    else {
      val times = new TimedRows(spec, columns)
      val sorter = RowSorter.create(
        columns,
        // the number of a window is its end; the order compares windows with the same end
        row => if (times.isTimeless(row)) Long.MinValue else times.time(row),
        RowOrdering.create(spec.order, columns).on[UnsafeRow](row => row).orElse(RowsByBytes)
      )
      sorter.sort(rows.asInstanceOf[Iterator[UnsafeRow]]).asInstanceOf[Iterator[InternalRow]]
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
