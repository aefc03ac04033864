package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.analysis.AnalysisContext
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Runs checks on whole queries before Spark does. Spark would add the tree of the whole plan to the
 * error, which makes the message long.
 *
 * It skips a subquery or a view on its own: the query around it may add what it lacks. It also
 * skips an unresolved plan, for which Spark reports the better error.
 */
private[streamjoin] final class CheckBeforeSpark(checks: Seq[LogicalPlan => Unit])
    extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val context = AnalysisContext.get
    val isWhole = context.outerPlan.isEmpty && context.nestedViewDepth == 0
    if (isWhole && plan.resolved) checks.foreach(_(plan))
    plan
  }
}
