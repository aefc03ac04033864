package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Mark on an input of a join, `child OVER (ROWS 3 PRECEDING)`: a row of the other input matches
 * only the last rows of its key. The join becomes an [[AsOfJoin]]. A mark elsewhere in a plan is
 * refused.
 *
 * Above the mark, the rows of a changelog are versions, so it hides their row kind.
 *
 * @param count the number of rows of a key
 * @param byOption whether it stands for the option `match => 'last'` of the join, not for a window
 * @param at the event time of the other input in `FOR SYSTEM_TIME AS OF o.time`; empty: none is
 *   named
 * @param asOf the match condition of an `ASOF JOIN`; none: the join has another form
 */
case class LastRows(
    count: Int,
    child: LogicalPlan,
    byOption: Boolean = false,
    at: Seq[String] = Nil,
    asOf: Option[MatchCondition] = None
) extends InputMark {

  override lazy val output: Seq[Attribute] =
    if (child.resolved && ChangelogMarks.areChanges(child)) Versions.columns(child.output)
    else child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): LastRows =
    copy(child = newChild)
}

private[streamjoin] object LastRows extends InputMarks[LastRows]

/**
 * The match condition of an `ASOF JOIN`, which compares columns of both inputs. It is no expression
 * of the node, since the node has columns of one input only.
 *
 * @param pending the condition until it is a part of the condition of the join
 */
private[streamjoin] final class MatchCondition private (val pending: Option[Expression])

private[streamjoin] object MatchCondition {

  /** A match condition that is a part of the condition of the join. */
  val Placed = new MatchCondition(None)

  def of(condition: Expression): MatchCondition =
    if (condition == Literal.TrueLiteral) Placed else new MatchCondition(Some(condition))
}
