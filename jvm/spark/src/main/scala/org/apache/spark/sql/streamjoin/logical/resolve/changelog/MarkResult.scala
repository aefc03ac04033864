package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, UnaryNode, Union}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogJoin, ToUpserts}

/**
 * Tells joins of changelogs whose changes come out of the query as they are: those must be exact in what comes out
 * of them, where sums, `toUpserts` and other joins net what they are given. Each part of a UNION ALL is a result.
 */
object MarkResult extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = if (plan.isStreaming) marked(plan) else plan

  private def marked(plan: LogicalPlan): LogicalPlan = plan match {
    case j: ChangelogJoin if !j.isResult => j.asResult(true)
    case _: Aggregate | _: ToUpserts     => plan
    case _: UnaryNode | _: Union         => plan.mapChildren(marked)
    case _                               => plan
  }
}
