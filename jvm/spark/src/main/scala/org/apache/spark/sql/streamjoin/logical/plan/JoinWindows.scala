package org.apache.spark.sql.streamjoin.logical.plan

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Add, And, Expression, LessThanOrEqual}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.streamjoin.conditions.TimeUnit

/**
 * The window on one input of a join: which rows are in it at a time, as the distances of theirs from
 * it. An input without a window has only the row at hand in it: 0 to 0.
 *
 * @param from in the unit of the event times: microseconds, days, or the number itself
 */
private[streamjoin] final case class Window(from: Long, to: Long)

/**
 * The windows on the inputs of a join. Rows meet if both are in their windows at one time, so
 *
 * {{{
 *   left.time <= right.time + (left.to - right.from)
 *   right.time <= left.time + (right.to - left.from)
 * }}}
 *
 * Source: SQLstream s-Server, "Streaming Joins".
 */
private[streamjoin] final case class JoinWindows(left: Window, right: Window) {
  import JoinWindows.NoWindow

  /** Whether one input has a window, and each row of the other one meets rows up to its own time. */
  def precede: Boolean =
    (left == NoWindow && right != NoWindow && right.to <= 0) ||
      (right == NoWindow && left != NoWindow && left.to <= 0)

  /** Whether the distances between matching rows can be told. */
  def fits(leftTime: Expression, rightTime: Expression): Boolean = Try {
    Math.subtractExact(left.to, right.from)
    Math.subtractExact(right.to, left.from)
    condition(leftTime, rightTime)
  }.isSuccess

  /** Between the event times of the inputs. */
  def condition(leftTime: Expression, rightTime: Expression): Expression = And(
    LessThanOrEqual(leftTime, JoinWindows.plus(rightTime, left.to - right.from)),
    LessThanOrEqual(rightTime, JoinWindows.plus(leftTime, right.to - left.from))
  )
}

private[streamjoin] object JoinWindows {

  /** On a join whose windows have become part of its condition. */
  val Placed: TreeNodeTag[JoinWindows] = TreeNodeTag("streamjoin.windows")

  val NoWindow: Window = Window(0, 0)

  /** A time moved by a distance. */
  def plus(time: Expression, distance: Long): Expression =
    if (distance == 0) time
    else TimeUnit.of(time.dataType).fold(time)(unit => Add(time, unit.distance(distance)))
}
