package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.analysis.AnalysisContext
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Checks of whole queries, before Spark runs them: to the message of an error that it meets there it
 * adds a picture of the whole plan, some twenty lines beside the two that say what to write.
 *
 * A sub-query or a view by itself is left to Spark's check of the query around it, which may bring what
 * it lacks; so is what is not resolved, of which Spark knows better what is wrong.
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
