package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.{
  CollectMetrics,
  LogicalPlan,
  RebalancePartitions,
  RepartitionOperation,
  UnaryNode
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
