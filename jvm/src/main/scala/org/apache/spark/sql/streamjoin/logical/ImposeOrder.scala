package org.apache.spark.sql.streamjoin.logical

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * Gives a column a watermark of its own: the largest value seen minus `lag`. Rows pass unchanged and
 * in no particular order.
 *
 * @param id tells this node from others for as long as the query runs
 * @param column the event-time column
 * @param lag in the unit of the column: microseconds, days, or the number itself
 * @param idleTimeoutMs after how long without a row the input stops holding others back
 * @param imposed whether the person asked for it (rather than for Spark's own watermark)
 */
case class ImposeOrder(
    id: UUID,
    column: Attribute,
    lag: Long,
    idleTimeoutMs: Option[Long],
    imposed: Boolean,
    child: LogicalPlan
) extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): ImposeOrder =
    copy(child = newChild)
}
