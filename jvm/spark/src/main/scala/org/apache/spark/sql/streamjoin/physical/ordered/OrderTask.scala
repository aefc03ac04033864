package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.checkpoint.StateShape
import org.apache.spark.sql.streamjoin.physical.exchange.NumberedRow
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BaseWatermarks,
  BatchArrivals,
  PartitionState,
  PartitionTask
}
import org.apache.spark.sql.streamjoin.physical.stateful.shown.BatchReport
import org.apache.spark.sql.types.StructType

import io.streamjoin.join.ordered.{OrderOperator, TimeBuckets}
import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.WatermarkPlan

/**
 * Task of the ordered output: one batch of one partition, from opening the state to its commit. The
 * emitted rows are not sorted yet.
 *
 * {{{
 *   L   limit of the last batch, stored     L'  limit of this batch: no later row is below it
 *
 *   new rows       below L: late;   reached by L': emitted;   else buffered
 *   buffered rows                   reached by L': emitted
 *   at the end     write the changes, commit
 * }}}
 *
 * @param remaining computes the limit from the watermarks of the sources
 */
private[ordered] final class OrderTask(
    partitionId: Int,
    spec: OrderSpec,
    remaining: WatermarkPlan,
    columns: Seq[Attribute],
    batch: BatchArrivals,
    partitions: PartitionState,
    report: BatchReport
) extends PartitionTask {

  private val rows = new TimedRows(spec, columns)
  private val state = partitions.open(partitionId, OrderTask.shape(columns, rows))
  private val base =
    BaseWatermarks.next(spec.bases, WatermarkPlan.rivals(spec.watermark), batch, state.numbers)
  private val counters = new Counters
  private val operator = new OrderOperator[UnsafeRow](rows, spec.tied, state.rows, counters)
  operator.begin(
    state.numbers.get(OrderTask.Limit).getOrElse(Watermarks.Unknown),
    remaining.eval(base.now)
  )
  private val limit = operator.limit

  override def arrive(
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    // a projection below may emit rows in another format
    val unsafe = UnsafeProjection.create(columns, columns)
    left
      .map {
        case row: UnsafeRow => row
        case other          => unsafe(other)
      }
      .filter(operator.passes)
  }

  override def advance(): Iterator[InternalRow] = operator.release()

  override def commit(): Unit = {
    if (limit != Watermarks.Unknown) state.numbers.put(OrderTask.Limit, limit)
    val counts = OrderTask.counted(counters, state.rows.size(OrderOperator.BufferSide))
    state.commit(report, counts, base, Array(limit))
  }

  /**
   * The emitted rows, in no order, with the numbers of their time buckets.
   *
   * @return one object, reused for each row
   */
  def numbered(input: Iterator[InternalRow]): Iterator[NumberedRow] = {
    val buckets = new TimeBuckets(limit)
    val pair = new NumberedRow
    output(arrive(input, Iterator.empty), report.emitted).map { emitted =>
      val row = emitted.asInstanceOf[UnsafeRow]
      val bucket =
        if (rows.isTimeless(row)) TimeBuckets.Timeless else buckets.of(rows.time(row))
      pair.to(bucket, row)
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

  private def counted(counters: Counters, held: Long): Map[String, Long] = Map(
    "heldRows" -> held,
    Count.Late.name -> counters.rows(Count.Late),
    Count.NullTime.name -> counters.rows(Count.NullTime),
    "numRowsDroppedByWatermark" -> counters.rows(Count.Late),
    "numRemovedStateRows" -> counters.rows(Count.Evicted)
  )
}
