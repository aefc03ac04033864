package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias, UnaryNode}
import org.apache.spark.sql.streamjoin.logical.times.{HasTimeColumns, TimeColumns}

/**
 * A window on an input of a join: `child OVER (RANGE INTERVAL '10' MINUTE FOLLOWING)`. The join takes
 * it in as a bound of its condition; a plan in which one is left is refused.
 *
 * @param lengths one, or the two of BETWEEN
 * @param preceding for each length, whether it goes back in time
 */
case class RelationWindow(lengths: Seq[Expression], preceding: Seq[Boolean], child: LogicalPlan)
    extends UnaryNode
    with HasTimeColumns {

  override def timeColumns: TimeColumns = TimeColumns.of(child)

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): RelationWindow =
    copy(child = newChild)
}

private[streamjoin] object RelationWindow {

  /** The window on an input of a join. */
  def on(input: LogicalPlan): Option[RelationWindow] = input match {
    case w: RelationWindow => Some(w)
    case a: SubqueryAlias  => on(a.child)
    case h: StreamJoinHint => on(h.child)
    case _                 => None
  }

  /** The input without its window. */
  def off(input: LogicalPlan): LogicalPlan = input match {
    case w: RelationWindow                        => w.child
    case a: SubqueryAlias if on(a.child).nonEmpty => a.withNewChildren(Seq(off(a.child)))
    case h: StreamJoinHint                        => h.withNewChildren(Seq(off(h.child)))
    case other                                    => other
  }
}
