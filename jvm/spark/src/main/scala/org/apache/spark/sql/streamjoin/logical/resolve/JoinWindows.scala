package org.apache.spark.sql.streamjoin.logical.resolve

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.{SQLQueryContext, TreeNodeTag}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.RelationWindow

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

  /** The windows on the inputs of a join, whose event times are `left` and `right`. */
  def of(join: Join, left: Attribute, right: Attribute): JoinWindows = {
    val windows = JoinWindows(window(join.left, left), window(join.right, right))
    if (!windows.fits(left, right)) {
      val written = Seq(join.left, join.right).flatMap(RelationWindow.on(_)).head
      throw refusal(written, "it is out of range")
    }
    windows
  }

  private def window(input: LogicalPlan, time: Attribute): Window =
    RelationWindow.on(input).fold(NoWindow) { w =>
      val ends = w.lengths.zip(w.preceding).map { case (length, preceding) =>
        val distance = span(length, time)
        if (preceding) -distance else distance
      }
      ends match {
        case Seq(end)                    => Window(end.min(0), end.max(0))
        case Seq(from, to) if from <= to => Window(from, to)
        case _                           => throw refusal(w, "it ends before it begins")
      }
    }

  def refusal(w: RelationWindow, reason: String): StreamJoinAnalysisException =
    StreamJoinErrors.invalidWindow(w.origin, written(w), reason)

  private def written(w: RelationWindow): String = w.origin.context match {
    case c: SQLQueryContext if c.isValid => c.fragment
    case _                               => w.lengths.map(_.sql).mkString(" AND ")
  }

  /** The length of a window in the unit of distances. */
  private def span(length: Expression, time: Attribute): Long = {
    val distances =
      new Distances("length of the window", time, length.origin, "INTERVAL '1' MINUTE")
    val distance = Distance.of(length)
    val isDate = TimeUnit.of(time.dataType).contains(TimeUnit.Date)
    if (isDate && distances.inMicros(distance) % MICROS_PER_DAY != 0) {
      throw distances.refusal(
        length.sql,
        "the column holds dates",
        "an interval of whole days"
      )
    }
    distances.inUnits(distance)
  }

  /** A time moved by a distance. */
  def plus(time: Expression, distance: Long): Expression =
    if (distance == 0) time
    else TimeUnit.of(time.dataType).fold(time)(unit => Add(time, unit.distance(distance)))
}
