package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedAttribute,
  UnresolvedSubqueryColumnAliases,
  UnresolvedTVFAliases,
  UnresolvedTableValuedFunction
}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.{LastRows, MatchCondition, RelationWindow}
import org.apache.spark.sql.types.StringType

/**
 * Resolves `STREAM_WINDOW(TABLE(t), INTERVAL '10' MINUTE, 'FOLLOWING')`. [[RelationWindows]] writes
 * this call for a window on a relation, and the text of a view contains it.
 *
 * A second interval and direction make it the window BETWEEN the two. A number and
 * `'ROWS PRECEDING'` select the last rows of the relation. A column of the other input and
 * `'SYSTEM_TIME'` select the last row at that time. A condition and `'ASOF'` select the last row
 * that satisfies it.
 */
object ResolveStreamWindow extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case UnresolvedTVFAliases(_, f: UnresolvedTableValuedFunction, columns) if isWindow(f) =>
      val w = window(f)
      // the window stays at the root, where the join expects it
      w.withNewChildren(Seq(UnresolvedSubqueryColumnAliases(columns, w.children.head)))
    case f: UnresolvedTableValuedFunction if isWindow(f) => window(f)
  }

  private def isWindow(f: UnresolvedTableValuedFunction): Boolean =
    f.name.length == 1 && f.name.head.toUpperCase(Locale.ROOT) == RelationWindows.Name

  private def window(f: UnresolvedTableValuedFunction): LogicalPlan = f.functionArgs match {
    case Seq(TableArgument(plan), count, Literal(d, StringType))
        if d.toString.equalsIgnoreCase(RelationWindows.LastRows) =>
      count match {
        case Literal(n: Int, _) if n > 0 => LastRows(n, plan)
        case _ =>
          throw StreamJoinErrors.invalidWindow(
            f.origin,
            s"OVER (ROWS ${count.sql} PRECEDING)",
            s"${count.sql} is not a whole number above 0",
            ofRows = true
          )
      }
    case Seq(TableArgument(plan), time: UnresolvedAttribute, Literal(d, StringType))
        if d.toString.equalsIgnoreCase(RelationWindows.TimeOfRow) =>
      LastRows(1, plan, at = time.nameParts)
    case Seq(TableArgument(plan), condition, Literal(d, StringType))
        if d.toString.equalsIgnoreCase(AsOfWords.Name) =>
      LastRows(1, plan, asOf = Some(MatchCondition.of(condition)))
    case Seq(TableArgument(plan), bounds @ _*) if bounds.length == 2 || bounds.length == 4 =>
      val (lengths, directions) = bounds.grouped(2).map(b => (b.head, b.last)).toSeq.unzip
      RelationWindow(lengths, directions.map(preceding(f, _)), plan)
    case _ =>
      throw wrong(
        f,
        "its arguments must be TABLE(...), and one or two pairs of an interval and a direction"
      )
  }

  private def preceding(f: UnresolvedTableValuedFunction, direction: Expression): Boolean =
    direction match {
      case Literal(d, StringType) if d.toString.equalsIgnoreCase("PRECEDING") => true
      case Literal(d, StringType) if d.toString.equalsIgnoreCase("FOLLOWING") => false
      case _ => throw wrong(f, "its direction must be 'PRECEDING' or 'FOLLOWING'")
    }

  private def wrong(f: UnresolvedTableValuedFunction, reason: String) =
    StreamJoinErrors.invalidWindow(f.origin, f.name.mkString("."), reason)
}
