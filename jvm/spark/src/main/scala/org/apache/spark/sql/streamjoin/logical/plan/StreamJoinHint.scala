package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, SubqueryAlias, UnaryNode}
import org.apache.spark.sql.streamjoin.logical.times.{HasTimeColumns, TimeColumns}

/**
 * On the left input of a join: if both inputs are streams the join is to be this project's, whatever
 * watermarks they have, with these options. The join takes it in.
 *
 * A node rather than a mark on the join, for Spark makes joins anew while it resolves them.
 *
 * @param held whether an [[UnresolvedStreamJoin]] is on the join, to be taken with it
 */
case class StreamJoinHint(options: JoinOptions, held: Boolean, child: LogicalPlan)
    extends UnaryNode
    with HasTimeColumns {

  override def timeColumns: TimeColumns = TimeColumns.of(child)

  override def output: Seq[Attribute] = child.output

  override def argString(maxFields: Int): String = options.words

  override protected def withNewChildInternal(newChild: LogicalPlan): StreamJoinHint =
    copy(child = newChild)
}

private[streamjoin] object StreamJoinHint {

  /** What was asked of a join; none where nothing was. */
  def on(j: Join): Option[JoinOptions] = of(j.left).map(_.options)

  /** Whether the late rows of a join are to be emitted. */
  def emitsLate(j: Join): Boolean = on(j).exists(_.emitLate)

  /** Whether a join waits until more of the query is resolved. */
  def isHeld(j: Join): Boolean = of(j.left).exists(_.held)

  /** The join with its hint changed. */
  def changed(j: Join)(change: StreamJoinHint => LogicalPlan): Join = {
    def within(input: LogicalPlan): LogicalPlan = input match {
      case h: StreamJoinHint => change(h)
      case a: SubqueryAlias  => a.withNewChildren(Seq(within(a.child)))
      case other             => other
    }
    j.withNewChildren(Seq(within(j.left), j.right)).asInstanceOf[Join]
  }

  /** The hint on an input, which may have been given an alias since. */
  def of(input: LogicalPlan): Option[StreamJoinHint] = input match {
    case h: StreamJoinHint => Some(h)
    case a: SubqueryAlias  => of(a.child)
    case _                 => None
  }
}
