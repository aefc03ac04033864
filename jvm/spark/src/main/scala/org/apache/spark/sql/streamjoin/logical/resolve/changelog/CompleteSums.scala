package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.AGGREGATE

/**
 * Analyzer rule that adds the old images below sums of changes without a join. A sum would add the
 * new image of an upsert, and never subtract the old one.
 */
private[streamjoin] object CompleteSums extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(AGGREGATE)) {
      case a: Aggregate if a.resolved && RowKindColumns.of(a.child).nonEmpty =>
        a.copy(child = LatestVersions.complete(a.child))
    }
}
