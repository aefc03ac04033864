package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.checkpoint.StateShape
import org.apache.spark.sql.streamjoin.physical.eventtime.{
  JoinReport,
  JoinedRowOutput,
  StoredDisorder
}
import org.apache.spark.sql.streamjoin.physical.stateful._

import io.streamjoin.join.asof.AsOfJoin
import io.streamjoin.join.eventtime.{Disorder, JoinCounters}
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.watermark.WatermarkPlan

/**
 * One batch of one partition of an as-of join, from opening its state to committing it.
 *
 * {{{
 *   rows --> late? held back? or due --+
 *   rows of earlier batches that are   +--> sorted by key and time --> joined
 *   due                              --+
 * }}}
 */
private[asof] final class AsOfTask(
    spec: AsOfSpec,
    columns: BySide[Seq[Attribute]],
    batch: AwaitedArrivals,
    partitions: PartitionState,
    report: JoinReport
) extends Serializable {

  def run(
      partitionId: Int,
      left: Iterator[InternalRow],
      right: Iterator[InternalRow]
  ): Iterator[InternalRow] = {
    val rows = new UnsafeAsOfRows(spec, columns)
    val state = partitions.open(partitionId, shapeOf(rows))
    val base =
      BaseWatermarks.next(spec.join.times.bases, WatermarkPlan.rivals(spec.limit), batch(), state.numbers)
    val disorder =
      new StoredDisorder(new Disorder(spec.join.bounds.columns.length, spec.join.times.lags))
    disorder.restore(state.numbers)
    val operator = new AsOfJoin[UnsafeRow, InternalRow](
      spec.join.joinType,
      spec.bounds,
      rows,
      new JoinedRowOutput(spec.join, columns.left, columns.right),
      state.rows,
      new JoinCounters,
      disorder.seen,
      spec.columns
    )
    operator.begin(received(base.before), received(base.now))
    val due = BySide.of(side => new DueRows(side, columns(side), rows, operator))
    val emitted = report.common.emitted

    def arrived(side: Side, input: Iterator[InternalRow]): Iterator[InternalRow] =
      input.map(_.asInstanceOf[UnsafeRow]).flatMap { row =>
        operator.arrive(side, row) match {
          case AsOfJoin.Arrival.Due =>
            due(side).add(row)
            Iterator.empty
          case AsOfJoin.Arrival.Unmatched => Iterator.single(operator.unmatched(row))
          case _                          => Iterator.empty
        }
      }
    def joined(): Iterator[InternalRow] = {
      Side.both.foreach(side => operator.release(side).foreach(due(side).add))
      operator.join(due(_).sorted())
    }
    def finished(): Iterator[InternalRow] = {
      report.addTimes(partitionId, state.numbers, disorder, operator.counters)(_ => true)
      state.commit(
        report.common,
        JoinReport.rows(operator.counters, state.rows)(_ => true),
        base,
        spec.join.times.watermarks.received(base.now)
      )
      Iterator.empty
    }
    (arrived(Side.Left, left) ++ arrived(Side.Right, right) ++ joined()).map { row =>
      emitted += 1
      row
    } ++ finished()
  }

  private def received(base: Array[Long]): Side => Long =
    BySide.of(side => spec.received(side).eval(base))

  private def shapeOf(rows: UnsafeAsOfRows): StateShape = StateShape(
    side => DataTypeUtils.fromAttributes(columns(side)),
    _ => 1,
    _ => 1L,
    (side, row, settled) => Array(spec.bounds.evictionLimit(side, rows.time(side, row), settled))
  )
}
