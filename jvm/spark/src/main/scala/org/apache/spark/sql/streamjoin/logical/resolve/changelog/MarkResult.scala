package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, UnaryNode, Union}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.Tagged
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ChangelogJoin, ToUpserts}

/**
 * Rule that marks the changelog joins whose changes are the result of the query. Such a join must
 * emit exact changes. Sums, `toUpserts`, and other joins consolidate their input. Each part of a
 * UNION ALL is a result.
 */
object MarkResult extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = if (plan.isStreaming) marked(plan) else plan

  private def marked(plan: LogicalPlan): LogicalPlan = plan match {
    case j: ChangelogJoin if !j.isResult => Tagged(j)(j.copy(isResult = true))
    case _: Aggregate | _: ToUpserts     => plan
    case _: UnaryNode | _: Union         => plan.mapChildren(marked)
    case _                               => plan
  }
}
