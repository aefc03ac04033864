package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, View}
import org.apache.spark.sql.streamjoin.logical.plan.PassesTimes

/**
 * Top node of a query with ordered output, which declares the order in terms of the columns that
 * the query starts with.
 *
 * The optimizer may replace the columns below. A sink receives a batch with the original columns
 * and the order of the physical plan. If that order used other columns, it would be useless there,
 * and `persist` of the batch would fail.
 *
 * @param claimed the order within each partition
 */
case class InOrder(claimed: ClaimedOrder, child: LogicalPlan) extends PassesTimes {

  override def maxRows: Option[Long] = child.maxRows

  override protected def stringArgs: Iterator[Any] =
    Iterator(claimed.words.mkString(", "))

  override protected def withNewChildInternal(newChild: LogicalPlan): InOrder =
    copy(child = newChild)
}

private[streamjoin] object InOrder {

  /** The query with its order, if Spark's own nodes above the ordering preserve it. */
  def of(query: LogicalPlan): LogicalPlan = query match {
    case known: InOrder => known
    case _ if query.exists(_.isInstanceOf[StreamOrder]) =>
      val order = query.transformUp { case v: View => v.child }.outputOrdering
      if (order.isEmpty) query else InOrder(new ClaimedOrder(order), query)
    case _ => query
  }
}
