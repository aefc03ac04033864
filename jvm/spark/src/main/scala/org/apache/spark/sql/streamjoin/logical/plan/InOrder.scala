package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode, View}
import org.apache.spark.sql.streamjoin.logical.times.{HasTimeColumns, TimeColumns}

/**
 * All of a query whose rows come in an order, said by the columns that it has when it starts.
 *
 * Below, an optimizer may have others, but the rows of a batch are handed to a sink with these, beside the order of the
 * physical plan: one by other columns is of no use there, and fails what Spark does with it (`persist`).
 *
 * @param claimed the order in each partition
 */
case class InOrder(claimed: ClaimedOrder, child: LogicalPlan) extends UnaryNode
    with HasTimeColumns {

  override def output: Seq[Attribute] = child.output

  override def maxRows: Option[Long] = child.maxRows

  override def timeColumns: TimeColumns = TimeColumns.of(child)

  override protected def stringArgs: Iterator[Any] =
    Iterator(claimed.words.mkString(", "))

  override protected def withNewChildInternal(newChild: LogicalPlan): InOrder =
    copy(child = newChild)
}

private[streamjoin] object InOrder {

  /** A query, with the order in which its rows come where Spark's own nodes keep it. */
  def of(query: LogicalPlan): LogicalPlan = query match {
    case known: InOrder => known
    case _ if query.exists(_.isInstanceOf[StreamOrder]) =>
      val order = query.transformUp { case v: View => v.child }.outputOrdering
      if (order.isEmpty) query else InOrder(new ClaimedOrder(order), query)
    case _ => query
  }
}
