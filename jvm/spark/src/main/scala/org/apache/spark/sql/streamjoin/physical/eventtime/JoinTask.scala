package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.checkpoint.{HotKeySums, StateShape, StoredNumbers}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BaseWatermarks,
  BatchArrivals,
  PartitionState,
  RowTask
}
import org.apache.spark.sql.streamjoin.physical.timed.{
  JoinedRowOutput,
  StoredDisorder,
  TimedJoinMetrics,
  TimedJoinSpec
}

import io.streamjoin.bounds.{JoinBounds, RowBounds, RowTimes}
import io.streamjoin.join.Counters
import io.streamjoin.join.eventtime.{EarliestTimes, EventTimeJoin, JoinStats}
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.Placement
import io.streamjoin.state.Watched

/**
 * Task of the event-time join: one batch of one partition, from opening the state to its commit.
 *
 * {{{
 *   W   watermarks at the end of the last batch, stored
 *   W'  watermarks at the end of this batch
 *
 *   left rows    below W: late;  probe the right buffer;  buffered if a later row can match by W
 *   right rows   below W: late;  probe the left buffer;   buffered if a later row can match by W'
 *   W -> W'      evict rows, emit the unmatched ones, write the changes, commit
 * }}}
 *
 * The task reads all left rows first. So no left row of the batch follows a right row, and the task
 * can judge a right row by W'. Example, orders joined with deliveries up to 30 minutes later, where
 * W'(orders) = 12:25: the delivery of 12:20 probes the orders and is not buffered.
 *
 * @param inputs the columns of both inputs
 * @param end the times of the batch
 */
private[physical] final class JoinTask(
    partitionId: Int,
    spec: TimedJoinSpec,
    inputs: BySide[Seq[Attribute]],
    end: BatchEnd,
    partitions: PartitionState,
    report: EventTimeReport
) extends RowTask {
  import spec.times.watermarks

  private val rows = new UnsafeJoinRows(spec, inputs)
  private val state =
    partitions.open(partitionId, JoinTask.shape(spec, inputs, rows, report.held.nonEmpty))
  spec.hotKeySums.check(partitions.location(partitionId), state.numbers.get(HotKeySums.Name))
  private val before =
    watermarks.received(BaseWatermarks.before(spec.times.bases, state.numbers))
  private lazy val base =
    BaseWatermarks.next(spec.times.bases, watermarks.rivals, end.arrivals(), state.numbers)
  private lazy val now = watermarks.received(base.now)
  private val keepFor = BySide(before, if (end.isKnown) now else before)
  private val counters = new Counters
  private val keys = report.loads.map(_ => StoredKeyLoad.open(state.numbers))
  private val operator = new EventTimeJoin[UnsafeRow, InternalRow](
    spec.joinType,
    spec.bounds,
    rows,
    new JoinedRowOutput(spec, inputs, countsIn),
    state.rows,
    JoinStats(counters, spec.times.lagsOfDisorder, keys),
    Placement(spec.routing, partitionId, partitions.info.numPartitions)
  )
  private val disorder = new StoredDisorder(operator.disorder)
  disorder.restore(state.numbers)
  operator.restore(before, state.numbers.takeFlag(StoredNumbers.MayHoldExpired))

  override def arrive(side: Side, row: UnsafeRow): Iterator[InternalRow] =
    operator.process(side, row, keepFor(side))

  override def advance(): Iterator[InternalRow] = operator.advance(now)

  override def commit(): Unit = {
    spec.hotKeySums.save(state.numbers)
    report.times.addTimes(partitionId, state.numbers, disorder, counters, now) { column =>
      countsIn(spec.bounds.columns(column).side)
    }
    keys.foreach(report.addLoad(partitionId, state.numbers, _))
    // a join below may emit fewer rows than its watermark promises: then a matched row may find
    // no further partner, and its time does not count
    report.held.foreach(_.add(
      operator.earliestBuffered ++
        operator.earliestUnmatched(side => watermarks.isOfJoin(side.other))
    ))
    state.commit(
      report.times.common,
      TimedJoinMetrics.counted(counters, state.rows)(countsIn),
      base,
      now
    )
  }

  private def countsIn(side: Side): Boolean = spec.routing.countsIn(partitionId, side)
}

/**
 * The times of a batch, for one task.
 *
 * @param isKnown whether the times are known before the first row, and all left rows arrive before
 *   the right rows. If not, the task judges the rows of both inputs by W
 * @param arrivals returns the times; not called before the last row if they are not known
 */
private[physical] final case class BatchEnd(isKnown: Boolean, arrivals: () => BatchArrivals)

private object JoinTask {

  /** @param watches whether an operator above requires the earliest buffered times */
  private def shape(
      spec: TimedJoinSpec,
      inputs: BySide[Seq[Attribute]],
      rows: UnsafeJoinRows,
      watches: Boolean
  ): StateShape = {
    val bounds = spec.bounds
    StateShape(
      side => DataTypeUtils.fromAttributes(inputs(side)),
      side => bounds.limiting(side).length,
      spanOf(bounds, _),
      limitsOf(bounds, rows),
      watched = if (watches) watched(spec, inputs) else _ => Watched.nothing[UnsafeRow]
    )
  }

  /** State in memory keeps this reader for all batches, so it refers to no row of a task. */
  private def watched(
      spec: TimedJoinSpec,
      inputs: BySide[Seq[Attribute]]
  ): Side => Watched[UnsafeRow] = {
    lazy val rows = new UnsafeJoinRows(spec, inputs)
    side =>
      new EarliestTimes(spec.bounds, side).watched((row: UnsafeRow, times: RowTimes) =>
        rows.readTimes(side, row, times)
      )
  }

  /**
   * The time range of a stored group of rows: a quarter of the join interval, so that a probe reads
   * few rows outside of its interval.
   */
  private def spanOf(bounds: JoinBounds, side: Side): Long = bounds.probeWidth(side) match {
    case JoinBounds.Unbounded => 1L
    case width                => math.max(1L, width / 4)
  }

  private def limitsOf(
      bounds: JoinBounds,
      rows: UnsafeJoinRows
  ): (Side, UnsafeRow, Boolean) => Array[Long] = {
    lazy val times = new RowTimes(bounds.columns.length)
    lazy val ofSides = BySide.of(new RowBounds(bounds, _))
    (side, row, _) => {
      rows.readTimes(side, row, times)
      val limits = new Array[Long](ofSides(side).limitCount)
      ofSides(side).limits(times, limits)
      limits
    }
  }
}
