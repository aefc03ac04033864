package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.StreamOrder

/**
 * Pushes a filter below an ordered output, so that rejected rows are not buffered. The watermarks
 * of the sources decide when rows are emitted, with or without the filter.
 */
object PushFilterThroughStreamOrder extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case Filter(condition, o: StreamOrder) if condition.deterministic =>
      o.copy(child = Filter(condition, o.child))
  }
}
