package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.JoinKind

/**
 * Analyzer rule that refuses a window expression in the condition of a join. Spark leaves such a
 * join unresolved, and would report an error for a node above it.
 */
object RefuseWindowsInConditions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case j: Join
          if !j.resolved && j.childrenResolved && JoinKind.required(j).exists(_.byEventTime) =>
        j.condition
          .filterNot(_.exists(_.isInstanceOf[UnresolvedAttribute]))
          .foreach(JoinRefusals.checkWindows(_, j.origin))
      case _ =>
    }
    plan
  }
}
