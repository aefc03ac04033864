package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{AttributeMap, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogJoin, ChangelogMarks}

/**
 * What stands above a join that has become ours may have been resolved before: here it gets to know of its
 * columns what the join says.
 */
private[resolve] object RenewedMarks {

  def of(plan: LogicalPlan): LogicalPlan = renewed(plan)._1

  /** With whether there is such a join: in one walk upwards, however deep the plan is. */
  private def renewed(plan: LogicalPlan): (LogicalPlan, Boolean) = {
    val (children, joins) = plan.children.map(renewed).unzip
    val isAbove = joins.contains(true)
    val made = plan.withNewChildren(children)
    (
      if (isAbove && made.resolved) ofInputs(made) else made,
      isAbove || plan.isInstanceOf[ChangelogJoin]
    )
  }

  /** One node, whose columns say of changes what those of its inputs do. */
  def ofInputs(plan: LogicalPlan): LogicalPlan = {
    val below = AttributeMap(plan.children.flatMap(_.output).map(a => a -> a))
    plan.transformExpressions {
      case a: AttributeReference if below.get(a).exists(!ChangelogMarks.sameMarks(_, a)) =>
        a.withMetadata(below(a).metadata)
    }
  }
}
