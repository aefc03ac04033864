package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.plans.logical.{
  GlobalLimit,
  LocalLimit,
  LogicalPlan,
  Repartition
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{LIMIT, REPARTITION_OPERATION}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{OrderScope, StreamOrder}

/**
 * Sorts an ordered output in one partition if a node above gathers all rows, such as LIMIT. Spark
 * would gather the rows of several partitions in the order of their arrival.
 */
object OrderInOnePartition extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformWithPruning(
    _.containsAnyPattern(LIMIT, REPARTITION_OPERATION)
  ) {
    case gathered @ (_: GlobalLimit | _: LocalLimit | Repartition(1, _, _)) =>
      gathered.mapChildren(inOne)
  }

  private def inOne(plan: LogicalPlan): LogicalPlan = plan match {
    case o: StreamOrder               => o.copy(scope = OrderScope.OnePartition)
    case p if StreamOrder.isKeptBy(p) => p.mapChildren(inOne)
    case p                            => p
  }
}
