package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, SubqueryAlias}

/**
 * Hint on the left input of a join. If both inputs are streams, it requires this project's join
 * with these options, for any watermarks. The join removes it.
 *
 * A node rather than a tag on the join, because Spark creates joins anew while it resolves them.
 *
 * @param held whether the join has an [[UnresolvedStreamJoin]], which is removed with the hint
 */
case class StreamJoinHint(options: JoinOptions, held: Boolean, child: LogicalPlan)
    extends PassesTimes {

  override def argString(maxFields: Int): String = options.words

  override protected def withNewChildInternal(newChild: LogicalPlan): StreamJoinHint =
    copy(child = newChild)
}

private[streamjoin] object StreamJoinHint {

  /** The options of a join; none: it has no hint. */
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

  /** The hint on an input, possibly below an alias. */
  def of(input: LogicalPlan): Option[StreamJoinHint] = input match {
    case h: StreamJoinHint => Some(h)
    case a: SubqueryAlias  => of(a.child)
    case _                 => None
  }
}
