package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The plan of a DataFrame that is a join with options. Spark's joins that wait for a second step are built, or refused. */
private[streamjoin] object FinishedJoin {

  def of(plan: LogicalPlan): LogicalPlan =
    ResolveAwaitedJoin(ResolveChangelogJoin.all(HoldHintedJoins(plan)))
}
