package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.checkpoint.StateShape

import io.streamjoin.bounds.{JoinBounds, RowBounds, RowTimes}
import io.streamjoin.join.eventtime.EarliestTimes
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.Watched

/** The properties of the buffered rows of an event-time join that a state format requires. */
private[eventtime] object JoinShape {

  /**
   * @param own creates code that no other task uses, if an operator above requires the earliest
   *   buffered times. State in memory keeps this code for all batches, so it cannot share the code
   *   of a task
   */
  def of(code: JoinCode, own: Option[() => JoinCode]): StateShape = {
    val bounds = code.spec.bounds
    StateShape(
      side => DataTypeUtils.fromAttributes(code.inputs(side)),
      side => bounds.limiting(side).length,
      spanOf(bounds, _),
      limitsOf(bounds, code.rows),
      watched = own.fold[Side => Watched[UnsafeRow]](_ => Watched.nothing[UnsafeRow])(watched)
    )
  }

  private def watched(own: () => JoinCode): Side => Watched[UnsafeRow] = {
    lazy val code = own()
    side =>
      new EarliestTimes(code.spec.bounds, side).watched((row: UnsafeRow, times: RowTimes) =>
        code.rows.readTimes(side, row, times)
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
