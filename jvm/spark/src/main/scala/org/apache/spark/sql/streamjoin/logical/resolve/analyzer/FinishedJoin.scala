package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Resolves the plan of a DataFrame that is a join with options. It builds or refuses joins that
 * wait for a second step.
 */
private[streamjoin] object FinishedJoin {

  def of(plan: LogicalPlan): LogicalPlan =
    ResolveAwaitedJoin(ResolveChangelogJoin.all(HoldHintedJoins(plan)))
}
