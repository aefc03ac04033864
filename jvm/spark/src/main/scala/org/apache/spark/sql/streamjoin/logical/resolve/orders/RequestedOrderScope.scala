package org.apache.spark.sql.streamjoin.logical.resolve.orders

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.errors.StreamJoinAnalysisException
import org.apache.spark.sql.streamjoin.logical.plan.{JoinNode, JoinOptions, OrderScope, StreamOrder}

/**
 * Reads the option `order_scope` for an order. The hint is on a join, and the option applies to the
 * order above that join.
 */
private[logical] object RequestedOrderScope {

  /** The scope of an order of the rows of a plan. */
  def of(plan: LogicalPlan): OrderScope =
    if (StreamOrder.orderedBy(plan).exists(asks)) OrderScope.EachPartition else OrderScope.Query

  private def asks(plan: LogicalPlan): Boolean = plan match {
    case j: JoinNode => j.options.orderScope != OrderScope.Query
    case _           => false
  }

  /** Refuses the option on a join without an order above it. Requires the whole query. */
  def unused(plan: LogicalPlan): Option[StreamJoinAnalysisException] =
    for {
      join <- plan.find(asks)
      if !plan.exists { case o: StreamOrder => o.child.exists(_ eq join); case _ => false }
    } yield JoinOptions.refusal(
      "order_scope sets the scope of an order, but the result is not ordered",
      "order_scope"
    )(join.origin)
}
