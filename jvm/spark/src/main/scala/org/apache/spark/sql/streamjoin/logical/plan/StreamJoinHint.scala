package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}

/**
 * Hint on the left input of a join. If both inputs are streams, it requires this project's join
 * with these options, for any watermarks. The join removes it.
 *
 * A node rather than a tag on the join, because Spark creates joins anew while it resolves them.
 */
case class StreamJoinHint(options: JoinOptions, child: LogicalPlan) extends InputMark {

  override def argString(maxFields: Int): String = options.words

  override protected def withNewChildInternal(newChild: LogicalPlan): StreamJoinHint =
    copy(child = newChild)
}

private[streamjoin] object StreamJoinHint extends InputMarks[StreamJoinHint] {

  /** The options of a join; none: it has no hint. */
  def options(j: Join): Option[JoinOptions] = on(j.left).map(_.options)

  /** Whether the late rows of a join are to be emitted. */
  def emitsLate(j: Join): Boolean = options(j).exists(_.emitLate)

  /** The join without its hint. */
  def without(j: Join): Join =
    j.withNewChildren(Seq(off(j.left), j.right)).asInstanceOf[Join]
}
