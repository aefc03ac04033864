package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, SubqueryAlias, UnaryNode}
import org.apache.spark.sql.streamjoin.logical.times.{HasTimeColumns, TimeColumns}

/**
 * On an input of a join: of each key only the last rows at the time of a row of the other input take
 * part, `child OVER (ROWS 3 PRECEDING)`. The join becomes an [[AsOfJoin]]; a plan in which one is left
 * is refused.
 *
 * @param count how many rows of a key
 */
case class LastRows(count: Int, child: LogicalPlan)
    extends UnaryNode
    with HasTimeColumns {

  override def timeColumns: TimeColumns = TimeColumns.of(child)

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): LastRows =
    copy(child = newChild)
}

private[streamjoin] object LastRows {

  /** What is asked of an input of a join. */
  def on(input: LogicalPlan): Option[LastRows] = input match {
    case l: LastRows       => Some(l)
    case a: SubqueryAlias  => on(a.child)
    case h: StreamJoinHint => on(h.child)
    case _                 => None
  }

  /** The input without it. */
  def off(input: LogicalPlan): LogicalPlan = input match {
    case l: LastRows                              => l.child
    case a: SubqueryAlias if on(a.child).nonEmpty => a.withNewChildren(Seq(off(a.child)))
    case h: StreamJoinHint                        => h.withNewChildren(Seq(off(h.child)))
    case other                                    => other
  }

  /** Whether a join is to be an [[AsOfJoin]]: for a window on an input, or by its option. */
  def wanted(j: Join): Boolean =
    StreamJoinHint.on(j).exists(_.last) || j.children.exists(on(_).nonEmpty)
}
