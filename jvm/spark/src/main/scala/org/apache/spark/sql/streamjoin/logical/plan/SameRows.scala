package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.PipeOperator
import org.apache.spark.sql.catalyst.plans.logical.{
  CollectMetrics,
  LogicalPlan,
  RebalancePartitions,
  RepartitionOperation,
  ResolvedHint,
  SubqueryAlias,
  UnaryNode,
  View
}

/**
 * Extractor of nodes for names, for `|>`, and for hints to Spark's own joins. Their output rows are
 * those of their child.
 */
private[streamjoin] object SameRows {

  def unapply(plan: UnaryNode): Option[LogicalPlan] = plan match {
    case _: SubqueryAlias | _: View | _: PipeOperator | _: ResolvedHint => Some(plan.child)
    case _                                                              => None
  }
}

/**
 * Extractor of nodes that repartition or count rows. Their output rows are those of their child, in
 * any order.
 */
private[streamjoin] object RowsElsewhere {

  def unapply(plan: UnaryNode): Option[LogicalPlan] = plan match {
    case _: RepartitionOperation | _: RebalancePartitions | _: CollectMetrics => Some(plan.child)
    case _                                                                    => None
  }
}
