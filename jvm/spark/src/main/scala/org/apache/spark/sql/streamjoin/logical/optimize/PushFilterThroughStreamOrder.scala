package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.StreamOrder

/**
 * A filter above an order goes below it, from where it may go on into a join: rows that it drops need
 * not wait. What comes out, and when, is decided by the watermarks of the sources.
 */
object PushFilterThroughStreamOrder extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case Filter(condition, o: StreamOrder) if condition.deterministic =>
      o.copy(child = Filter(condition, o.child))
  }
}
