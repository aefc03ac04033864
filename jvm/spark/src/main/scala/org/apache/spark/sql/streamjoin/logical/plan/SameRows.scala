package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.PipeOperator
import org.apache.spark.sql.catalyst.plans.logical.{
  LogicalPlan,
  ResolvedHint,
  SubqueryAlias,
  UnaryNode,
  View
}

/** What stands in a plan for names, for `|>` or for a hint to Spark's own joins: its rows are those below it. */
private[streamjoin] object SameRows {

  def unapply(plan: UnaryNode): Option[LogicalPlan] = plan match {
    case _: SubqueryAlias | _: View | _: PipeOperator | _: ResolvedHint => Some(plan.child)
    case _                                                              => None
  }
}
