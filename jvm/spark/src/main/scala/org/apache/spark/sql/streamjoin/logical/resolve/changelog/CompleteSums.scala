package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.AGGREGATE

/**
 * Sums over changes that no join has made get both images of each: one that comes alone, the latest of its
 * key, would be added and what it replaces never taken off.
 */
private[streamjoin] object CompleteSums extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(AGGREGATE)) {
      case a: Aggregate
          if a.resolved && ToldKinds.of(a.child).nonEmpty && !LastImages.areComplete(a.child) =>
        a.copy(child = LastImages.complete(a.child))
    }
}
