package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.{
  CollectMetrics,
  LogicalPlan,
  RebalancePartitions,
  RepartitionOperation,
  UnaryNode
}

/** What says in which tasks rows lie, or counts them on their way: its rows are those below it, in any order. */
private[streamjoin] object RowsElsewhere {

  def unapply(plan: UnaryNode): Option[LogicalPlan] = plan match {
    case _: RepartitionOperation | _: RebalancePartitions | _: CollectMetrics => Some(plan.child)
    case _                                                                    => None
  }
}
