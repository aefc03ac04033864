package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{AttributeMap, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

/**
 * Updates the marks of columns above a join that has become a changelog join. The nodes above may
 * have been resolved before.
 */
private[resolve] object PropagatedMarks {

  def of(plan: LogicalPlan): LogicalPlan = renewed(plan)._1

  /**
   * The plan, and whether it has such a join. A single traversal determines both, since plans may
   * be deep.
   */
  private def renewed(plan: LogicalPlan): (LogicalPlan, Boolean) = {
    val (children, joins) = plan.children.map(renewed).unzip
    val isAbove = joins.contains(true)
    val made = plan.withNewChildren(children)
    (
      if (isAbove && made.resolved) ofInputs(made) else made,
      isAbove || plan.isInstanceOf[ChangelogJoin]
    )
  }

  /** A node whose columns have the marks of its input columns. */
  def ofInputs(plan: LogicalPlan): LogicalPlan = {
    val below = AttributeMap(plan.children.flatMap(_.output).map(a => a -> a))
    plan.transformExpressions {
      case a: AttributeReference if below.get(a).exists(!ChangelogMarks.sameMarks(_, a)) =>
        a.withMetadata(below(a).metadata)
    }
  }
}
