package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, UnaryNode}
import org.apache.spark.sql.streamjoin.logical.times.{HasTimeColumns, InputColumns, TimeColumns}

/**
 * An input of a join, whose columns may be NULL whenever they may be when the query is analysed.
 *
 * Spark's optimizer looks at one batch. Where a branch of a union brings nothing, it finds columns that
 * are never NULL in this batch and simplifies the join's condition by that; but the join also meets
 * rows of other batches. For the same reason it tells what depends on the time zone.
 *
 * @param present the columns that are never NULL
 * @param zoned what of the columns depends on the time zone of the session
 */
case class StreamJoinInput(present: Set[ExprId], zoned: Seq[ZonedPart], child: LogicalPlan)
    extends UnaryNode
    with HasTimeColumns {

  override def timeColumns: TimeColumns = TimeColumns.of(child)

  override def output: Seq[Attribute] = StreamJoinInput.nullable(child.output, present)

  override protected def stringArgs: Iterator[Any] = {
    val never = output.filterNot(_.nullable)
    if (never.isEmpty) Iterator.empty else Iterator(never.mkString("never null: ", ", ", ""))
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): StreamJoinInput =
    copy(child = newChild)
}

private[streamjoin] object StreamJoinInput {

  def of(input: LogicalPlan, zoned: Seq[ZonedPart]): StreamJoinInput =
    StreamJoinInput(input.output.filterNot(_.nullable).map(_.exprId).toSet, zoned, input)

  /** What of an input depends on the time zone; the optimizer may have put something on top of it. */
  def zoned(input: LogicalPlan): Seq[ZonedPart] = input match {
    case i: StreamJoinInput => i.zoned
    case u: UnaryNode       => zoned(u.child)
    case _                  => Nil
  }

  /** The input with a filter on its rows, written for rows as they come out of the join. */
  def filtered(input: LogicalPlan, condition: Expression): LogicalPlan = input match {
    case i: StreamJoinInput => i.copy(child = filtered(i.child, condition))
    case other              => Filter(InputColumns.in(condition, other.output), other)
  }

  def nullable(columns: Seq[Attribute], present: Set[ExprId]): Seq[Attribute] =
    columns.map(a => a.withNullability(!present(a.exprId)))
}
