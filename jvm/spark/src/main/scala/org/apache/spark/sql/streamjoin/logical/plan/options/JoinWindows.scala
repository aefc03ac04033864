package org.apache.spark.sql.streamjoin.logical.plan.options

import org.apache.spark.sql.catalyst.expressions.{Add, And, Expression, LessThanOrEqual}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

/**
 * The window on one input of a join: the distances from a point in time to the event times of the
 * rows in the window. An input without a window has the current row only: 0 to 0.
 *
 * @param from in the unit of the event times: microseconds, days, or the number itself
 */
private[streamjoin] final case class Window(from: Long, to: Long)

/**
 * The windows on the inputs of a join. Two rows match if both are in their windows at one time:
 *
 * {{{
 *   left.time <= right.time + (left.to - right.from)
 *   right.time <= left.time + (right.to - left.from)
 * }}}
 *
 * Example: `right OVER (RANGE INTERVAL '10' MINUTE PRECEDING)` is a right window from -10 to 0. A
 * left row of 12:10 matches the right rows of 12:00 to 12:10.
 *
 * Source: SQLstream s-Server, "Streaming Joins".
 */
private[streamjoin] final case class JoinWindows(left: Window, right: Window) {
  import JoinWindows.NoWindow

  /**
   * Whether only one input has a window, and that window ends at the row of the other input at the
   * latest.
   */
  def precede: Boolean =
    (left == NoWindow && right != NoWindow && right.to <= 0) ||
      (right == NoWindow && left != NoWindow && left.to <= 0)

  /**
   * The bounds between the event times of the inputs.
   *
   * @throws ArithmeticException if a bound is out of the range of the type of the event times
   */
  def condition(leftTime: Expression, rightTime: Expression): Expression = And(
    LessThanOrEqual(leftTime, JoinWindows.plus(rightTime, Math.subtractExact(left.to, right.from))),
    LessThanOrEqual(rightTime, JoinWindows.plus(leftTime, Math.subtractExact(right.to, left.from)))
  )
}

private[streamjoin] object JoinWindows {

  /** Tag of a join whose windows are part of its condition. */
  val Placed: TreeNodeTag[JoinWindows] = TreeNodeTag("streamjoin.windows")

  val NoWindow: Window = Window(0, 0)

  /** A time shifted by a distance. */
  def plus(time: Expression, distance: Long): Expression =
    if (distance == 0) time
    else TimeUnit.of(time.dataType).fold(time)(unit => Add(time, unit.distance(distance)))
}
