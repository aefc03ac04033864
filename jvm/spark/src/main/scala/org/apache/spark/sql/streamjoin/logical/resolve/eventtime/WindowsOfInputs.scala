package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.SQLQueryContext
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{LastRows, RelationWindow}
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinWindows, Window}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{Distance, Distances, Refusal}

/** Reads the windows on the inputs of a join, or refuses them. */
private[streamjoin] object WindowsOfInputs {

  /** The windows on the inputs of a join, whose event times are `left` and `right`. */
  def of(join: Join, left: Attribute, right: Attribute): JoinWindows = {
    val windows = JoinWindows(window(join.left, left), window(join.right, right))
    if (Try(windows.condition(left, right)).isFailure) {
      val written = Seq(join.left, join.right).flatMap(RelationWindow.on(_)).head
      throw refusal(written, "it is out of range")
    }
    windows
  }

  private def window(input: LogicalPlan, time: Attribute): Window =
    RelationWindow.on(input).fold(JoinWindows.NoWindow) { w =>
      val ends = w.lengths.zip(w.preceding).map { case (length, preceding) =>
        val distance = span(length, time)
        if (preceding) -distance else distance
      }
      ends match {
        case Seq(end)                    => Window(end.min(0), end.max(0))
        case Seq(from, to) if from <= to => Window(from, to)
        case _                           => throw refusal(w, "its end is before its start")
      }
    }

  /** The refusal of a window that is not on an input of a join. */
  def misplaced(plan: LogicalPlan): Option[Refusal] = plan.collectFirst {
    case w: RelationWindow =>
      Refusal(refusal(w, "its relation is not an input of a join"))
    case l: LastRows if l.form != LastRows.ByOption =>
      Refusal(
        StreamJoinErrors.unsupportedAsOf(
          l.origin,
          s"${written(l)} is on a relation that is not an input of a join of streams",
          "Put it on one input of a join with ON"
        )
      )
  }

  private def written(l: LastRows): String = l.form match {
    case _: LastRows.AsOf      => "STREAM_WINDOW(..., 'ASOF')"
    case _: LastRows.TimeOfRow => "FOR SYSTEM_TIME AS OF"
    case _                     => s"OVER (ROWS ${l.count} PRECEDING)"
  }

  def refusal(w: RelationWindow, reason: String): StreamJoinAnalysisException =
    StreamJoinErrors.invalidWindow(w.origin, written(w), reason)

  private def written(w: RelationWindow): String = w.origin.context match {
    case c: SQLQueryContext if c.isValid => c.fragment
    case _                               => w.lengths.map(_.sql).mkString(" AND ")
  }

  /** The length of a window in the unit of the event time. */
  private def span(length: Expression, time: Attribute): Long = {
    val distances =
      new Distances("length of the window", time, length.origin, "INTERVAL '1' MINUTE")
    val distance = Distance.of(length)
    val isDate = TimeUnit.of(time.dataType).contains(TimeUnit.Date)
    if (isDate && distances.inMicros(distance) % MICROS_PER_DAY != 0) {
      throw distances.refusal(
        length.sql,
        "the column has dates",
        "an interval of whole days"
      )
    }
    distances.inUnits(distance)
  }
}
