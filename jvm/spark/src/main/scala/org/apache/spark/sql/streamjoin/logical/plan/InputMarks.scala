package org.apache.spark.sql.streamjoin.logical.plan

import scala.reflect.ClassTag

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, SubqueryAlias}

/** A node on an input of a join that only affects the join. The join removes it. */
private[streamjoin] trait InputMark extends PassesTimes

/** Finds marks of one kind below the alias and the options of an input. */
private[streamjoin] abstract class InputMarks[M <: InputMark](implicit kind: ClassTag[M]) {

  /** The mark on an input of a join. */
  final def on(input: LogicalPlan): Option[M] = input match {
    case kind(mark)        => Some(mark)
    case a: SubqueryAlias  => on(a.child)
    case h: StreamJoinHint => on(h.child)
    case _                 => None
  }

  /** The input without its mark. */
  final def off(input: LogicalPlan): LogicalPlan = changed(input)(_.child)

  /** The input with its mark replaced. */
  final def changed(input: LogicalPlan)(change: M => LogicalPlan): LogicalPlan = input match {
    case kind(mark) => change(mark)
    case a: SubqueryAlias if on(a.child).nonEmpty =>
      a.withNewChildren(Seq(changed(a.child)(change)))
    case h: StreamJoinHint => h.withNewChildren(Seq(changed(h.child)(change)))
    case other             => other
  }
}

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
