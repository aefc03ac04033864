package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.streamjoin.checkpoint.StateShape
import org.apache.spark.sql.streamjoin.physical.exchange.RowSorter
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BaseWatermarks,
  BatchArrivals,
  PartitionState,
  RowTask
}
import org.apache.spark.sql.streamjoin.physical.timed.{
  DisorderReport,
  JoinedRowOutput,
  StoredDisorder,
  TimedJoinMetrics
}

import io.streamjoin.join.{Counters, Disorder}
import io.streamjoin.join.asof.AsOfJoin
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.watermark.WatermarkPlan

/**
 * One batch of one partition of an as-of join, from opening its state to committing it.
 *
 * {{{
 *   arriving rows --> late, buffered, or due --+
 *                                              +--> sorted by key and time --> joined
 *   buffered rows that are due now           --+
 * }}}
 */
private[asof] final class AsOfTask(
    partitionId: Int,
    spec: AsOfSpec,
    columns: BySide[Seq[Attribute]],
    batch: BatchArrivals,
    partitions: PartitionState,
    report: DisorderReport
) extends RowTask {
  import spec.join.times
  private val rows = new UnsafeAsOfRows(spec, columns)
  private val state = partitions.open(partitionId, AsOfTask.shape(spec, columns, rows))
  private val base =
    BaseWatermarks.next(times.bases, WatermarkPlan.rivals(spec.limit), batch, state.numbers)
  private val disorder =
    new StoredDisorder(new Disorder(times.bounds.columns.length, times.lagsOfDisorder))
  disorder.restore(state.numbers)
  private val operator = new AsOfJoin[UnsafeRow, InternalRow](
    spec.join.joinType,
    spec.bounds,
    rows,
    new JoinedRowOutput(spec.join, columns, answers = _ => true),
    state.rows,
    new Counters,
    disorder.seen,
    spec.columns
  )
  operator.begin(received(base.before), received(base.now))
  private val due = BySide.of(side => new DueRows(side, columns(side), rows, operator))

  override def arrive(side: Side, row: UnsafeRow): Iterator[InternalRow] =
    operator.arrive(side, row)(due(side)).iterator

  override def advance(): Iterator[InternalRow] = {
    Side.both.foreach(side => operator.release(side).foreach(due(side)))
    operator.join(due(_).sorted())
  }

  override def commit(): Unit = {
    val now = times.watermarks.received(base.now)
    report.addTimes(partitionId, state.numbers, disorder, operator.counters, now)(_ => true)
    state.commit(
      report.common,
      TimedJoinMetrics.counted(operator.counters, state.rows)(_ => true),
      base,
      now
    )
  }

  private def received(base: Array[Long]): Side => Long =
    BySide.of(side => spec.received(side).eval(base))
}

private object AsOfTask {

  private def shape(
      spec: AsOfSpec,
      columns: BySide[Seq[Attribute]],
      rows: UnsafeAsOfRows
  ): StateShape = StateShape(
    side => DataTypeUtils.fromAttributes(columns(side)),
    _ => 1,
    _ => 1L,
    (side, row, settled) => Array(spec.bounds.evictionLimit(side, rows.time(side, row), settled))
  )
}

/** Sorter of the rows of one side that are due in a batch. It spills to disk if memory is short. */
private[asof] final class DueRows(
    side: Side,
    columns: Seq[Attribute],
    rows: UnsafeAsOfRows,
    operator: AsOfJoin[UnsafeRow, _]
) extends (UnsafeRow => Unit) {

  private var sorter: UnsafeExternalRowSorter = _

  override def apply(row: UnsafeRow): Unit = {
    if (sorter == null) sorter = create()
    sorter.insertRow(row)
  }

  /** The sorted rows. No row can be added afterwards. */
  def sorted(): Iterator[UnsafeRow] =
    if (sorter == null) Iterator.empty else sorter.sort().asInstanceOf[Iterator[UnsafeRow]]

  /** Sorts by the hash of the key, then by time. */
  private def create(): UnsafeExternalRowSorter =
    RowSorter.create(columns, rows.key(side, _), operator.compareInKey(side, _, _))
}
