package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions

/**
 * Hint on the left input of a join. If both inputs are streams, it requires this project's join
 * with these options, for any watermarks.
 *
 * A node rather than a tag on the join, because Spark creates joins anew while it resolves them.
 *
 * @param held whether the join has an [[UnresolvedStreamJoin]], which is removed with the hint
 */
case class StreamJoinHint(options: JoinOptions, held: Boolean, child: LogicalPlan)
    extends InputMark {

  override private[nodes] def coversOthers: Boolean = true

  override def argString(maxFields: Int): String = options.words

  override protected def withNewChildInternal(newChild: LogicalPlan): StreamJoinHint =
    copy(child = newChild)
}

private[streamjoin] object StreamJoinHint extends InputMarks[StreamJoinHint] {

  /** The options of a join; none: it has no hint. */
  def options(j: Join): Option[JoinOptions] = on(j.left).map(_.options)

  /** Whether the late rows of a join are to be emitted. */
  def emitsLate(j: Join): Boolean = options(j).exists(_.emitLate)

  /** Whether a join waits until more of the query is resolved. */
  def isHeld(j: Join): Boolean = on(j.left).exists(_.held)

  /** The join, waiting or not. */
  def held(j: Join, held: Boolean): Join = ofLeft(j, changed(j.left)(_.copy(held = held)))

  /** The join without its hint. */
  def removed(j: Join): Join = ofLeft(j, off(j.left))

  private def ofLeft(j: Join, left: LogicalPlan): Join =
    j.withNewChildren(Seq(left, j.right)).asInstanceOf[Join]
}
