package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.checkpoint.StateShape
import org.apache.spark.sql.streamjoin.physical.exchange.NumberedRow
import org.apache.spark.sql.streamjoin.physical.stateful._
import org.apache.spark.sql.types.StructType

import io.streamjoin.join.ordered.{OrderCounters, OrderOperator, TimeBuckets}
import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.WatermarkPlan

/**
 * One batch of one partition of an order, from opening its state to committing it: what comes out, in
 * no order yet.
 *
 * @param remaining how the time below which nothing can come any more follows from the watermarks of
 *   the sources
 *
 * {{{
 *   limit before = stored      limit now = nothing that remains is below it
 *   rows --> late by before? reached by now? --> out
 *                            else held back
 *   limit now --> rows of earlier batches --> out;   write what is left, commit
 * }}}
 */
private[ordered] final class OrderTask(
    spec: OrderSpec,
    remaining: WatermarkPlan,
    output: Seq[Attribute],
    batch: AwaitedArrivals,
    partitions: PartitionState,
    report: BatchReport
) extends Serializable {

  /** What comes out, in no order. */
  def run(partitionId: Int, input: Iterator[InternalRow]): Iterator[InternalRow] =
    numbered(partitionId, input).map(_.row)

  /**
   * The same, each with the number of the range of its times, in whose order it is to be.
   *
   * @return each overwrites the one before
   */
  def numbered(
      partitionId: Int,
      input: Iterator[InternalRow]
  ): Iterator[NumberedRow] = {
    val rows = new TimedRows(spec, output)
    val state = partitions.open(partitionId, OrderTask.shape(output, rows))
    val base = BaseWatermarks.next(
      spec.bases,
      WatermarkPlan.rivals(spec.watermark),
      batch(),
      state.numbers
    )
    val counters = new OrderCounters
    val operator = new OrderOperator[UnsafeRow](rows, spec.tied, state.rows, counters)
    operator.begin(
      state.numbers.get(OrderTask.Limit).getOrElse(Watermarks.Unknown),
      remaining.eval(base.now)
    )
    val limit = operator.limit
    def finish(): Iterator[Nothing] = {
      if (limit != Watermarks.Unknown) state.numbers.put(OrderTask.Limit, limit)
      val counts = OrderTask.counted(counters, state.rows.size(OrderOperator.BufferSide))
      state.commit(report, counts, base, Array(limit))
      Iterator.empty
    }
    // what a projection below computes is one row that shows one after another
    val unsafe = UnsafeProjection.create(output, output)
    val out = report.emitted
    val come = input
      .map {
        case row: UnsafeRow => row
        case other          => unsafe(other)
      }
      .filter(operator.passes) ++ operator.release() ++ finish()
    val buckets = new TimeBuckets(limit)
    val pair = new NumberedRow
    come.map { row =>
      out += 1
      pair.to(
        if (rows.isTimeless(row)) TimeBuckets.Timeless else buckets.of(rows.time(row)),
        row
      )
    }
  }
}

private[ordered] object OrderTask {

  /** The name of the stored limit. */
  val Limit: String = "limit"

  private def shape(output: Seq[Attribute], rows: TimedRows): StateShape = StateShape(
    side =>
      if (side == OrderOperator.BufferSide) DataTypeUtils.fromAttributes(output)
      else new StructType(),
    _ => 1,
    _ => 1L,
    (_, row, _) => Array(rows.time(row))
  )

  private def counted(counters: OrderCounters, held: Long): Map[String, Long] = Map(
    "heldRows" -> held,
    "lateRows" -> counters.lateRows,
    "nullTimeRows" -> counters.nullTimeRows,
    "numRowsDroppedByWatermark" -> counters.lateRows,
    "numRemovedStateRows" -> counters.freedRows
  )
}
