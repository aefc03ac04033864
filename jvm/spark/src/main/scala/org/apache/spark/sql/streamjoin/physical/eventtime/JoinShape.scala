package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.checkpoint.StateShape

import io.streamjoin.bounds.{JoinBounds, RowBounds, RowTimes}
import io.streamjoin.join.eventtime.EarliestTimes
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.Watched

/** The properties of the buffered rows of an event-time join that a state format requires. */
private[eventtime] object JoinShape {

  /**
   * @param inputs the columns of both inputs
   * @param rows the rows of the task
   * @param watches whether an operator above requires the earliest buffered times
   */
  def of(
      spec: StreamJoinSpec,
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
      spec: StreamJoinSpec,
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
