package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Expression, SessionWindow, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.JoinKind

/**
 * Analyzer rule that refuses a window expression in the condition of a join. Spark supports it in
 * projections only. It leaves such a join unresolved, and would report an error for a node above it.
 */
object RefuseWindowsInConditions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case j: Join
          if !j.resolved && j.childrenResolved && JoinKind.required(j).exists(_.byEventTime) =>
        j.condition
          .filterNot(_.exists(_.isInstanceOf[UnresolvedAttribute]))
          .foreach(check(_, j.origin))
      case _ =>
    }
    plan
  }

  private def check(condition: Expression, origin: Origin): Unit = condition.foreach {
    case w @ (_: TimeWindow | _: SessionWindow) =>
      throw StreamJoinErrors.unsupportedCondition(
        origin,
        w,
        "a computed time window",
        "Compute the window as a column of each input, as in window(order_time, '1 hour') AS w, " +
          "and compare these columns"
      )
    case _ =>
  }
}
