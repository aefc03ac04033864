package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.changes.{ChangelogMarks, Versions}

/**
 * Mark on an input of a join: a row of the other input matches only the last rows of its key. The
 * join becomes an [[AsOfJoin]]. A mark elsewhere in a plan is refused.
 *
 * Above the mark, the rows of a changelog are versions, so it hides their row kind.
 *
 * @param count the number of rows of a key
 * @param form how the query asks for the last rows
 */
case class LastRows(count: Int, child: LogicalPlan, form: LastRows.Form = LastRows.Window)
    extends InputMark {

  override lazy val output: Seq[Attribute] =
    if (child.resolved && ChangelogMarks.areChanges(child)) Versions.columns(child.output)
    else child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): LastRows =
    copy(child = newChild)
}

private[streamjoin] object LastRows extends InputMarks[LastRows] {

  sealed trait Form

  /** `child OVER (ROWS 3 PRECEDING)`. */
  case object Window extends Form

  /** The option `match => 'last'` of the join. */
  case object ByOption extends Form

  /** `FOR SYSTEM_TIME AS OF o.time`, with the event time of the other input. */
  final case class TimeOfRow(time: Seq[String]) extends Form

  /**
   * `ASOF JOIN`.
   *
   * @param pending the match condition until it is a part of the condition of the join. It compares
   *   columns of both inputs, so it is no expression of the node, which has those of one
   */
  final case class AsOf(pending: Option[Expression]) extends Form
}
