package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.{AsOfJoin, JoinOptions, StreamJoin, StreamOrder}

/** The option `order_scope` of a join: it speaks of the order above it. */
private[logical] object OrderScope {

  /** Whether the order of the rows of a plan need not reach further than each partition. */
  def isPartition(plan: LogicalPlan): Boolean = plan match {
    case p if asks(p)                 => true
    case p if StreamOrder.isKeptBy(p) => p.children.exists(isPartition)
    case _                            => false
  }

  private def asks(plan: LogicalPlan): Boolean = plan match {
    case j: StreamJoin => j.options.partitionOrder
    case j: AsOfJoin   => j.partitionOrder
    case _             => false
  }

  /** Of a whole query: a join that was asked for a scope of an order that there is not. */
  def unused(plan: LogicalPlan): Option[StreamJoinAnalysisException] =
    for {
      join <- plan.find(asks)
      if !plan.exists { case o: StreamOrder => o.child.exists(_ eq join); case _ => false }
    } yield StreamJoinErrors.invalidOption(
      join.origin,
      "order_scope says how far the order of the result reaches, and the result is not ordered",
      JoinOptions.allowed,
      JoinOptions.example("order_scope")
    )
}
