package org.apache.spark.sql.streamjoin.logical.resolve

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Lag => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.{SQLQueryContext, TreeNodeTag}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.RelationWindow
import org.apache.spark.sql.types.DayTimeIntervalType

/**
 * The window on one input of a join: which rows are in it at a time, as the distances of theirs from
 * it. An input without a window has only the row at hand in it: 0 to 0.
 *
 * @param from microseconds, or a number where event times are numbers
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
  def fits: Boolean = Try {
    Math.subtractExact(left.to, right.from)
    Math.subtractExact(right.to, left.from)
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
    if (!windows.fits) {
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
    val parameter = "length of the window"
    def refused(reason: String, expected: String) = StreamJoinErrors.invalidLag(
      length.origin,
      parameter,
      length.sql,
      time.name,
      time.dataType,
      reason,
      expected
    )
    val distance = (TimeUnit.of(time.dataType), OrderImposer.lag(length)) match {
      case (Some(TimeUnit.Number), Lag.Count(n)) => n
      case (Some(TimeUnit.Number), Lag.Unreadable(_, reason)) =>
        throw refused(reason, "a whole number")
      case (_, Lag.Unreadable(_, reason)) =>
        throw refused(reason, "an interval such as INTERVAL '1' MINUTE")
      case (Some(TimeUnit.Number), _) =>
        throw refused("the column holds numbers", "a whole number")
      case (_, Lag.Count(_)) =>
        throw refused("the column holds times", "an interval such as INTERVAL '1' MINUTE")
      case (unit, Lag.Interval(i, text)) =>
        if (i.months != 0) throw StreamJoinErrors.calendarInterval(length.origin, text)
        val micros = OrderImposer.microsOf(i).getOrElse(
          throw refused("it is out of range", "a shorter interval")
        )
        if (unit.contains(TimeUnit.Date) && micros % MICROS_PER_DAY != 0) {
          throw refused("the column holds dates", "an interval of whole days")
        }
        micros
    }
    if (distance < 0) throw refused("it is negative", "a length of zero or more, and the direction")
    distance
  }

  /** A time moved by a distance. */
  def plus(time: Expression, distance: Long): Expression =
    if (distance == 0) time
    else {
      val literal = TimeUnit.of(time.dataType) match {
        case Some(TimeUnit.Number) => Literal(distance)
        case Some(TimeUnit.Date) => Literal(distance, DayTimeIntervalType(DayTimeIntervalType.DAY))
        case _                   => Literal(distance, DayTimeIntervalType())
      }
      Add(time, literal)
    }
}
