package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Mark of a window on an input of a join: `child OVER (RANGE INTERVAL '10' MINUTE FOLLOWING)`. The
 * join turns it into bounds of its condition. A mark elsewhere in a plan is refused.
 *
 * @param lengths one, or the two of BETWEEN
 * @param preceding for each length, whether it extends back in time
 */
case class RelationWindow(lengths: Seq[Expression], preceding: Seq[Boolean], child: LogicalPlan)
    extends InputMark {

  override protected def withNewChildInternal(newChild: LogicalPlan): RelationWindow =
    copy(child = newChild)
}

private[streamjoin] object RelationWindow extends InputMarks[RelationWindow]
