package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ClaimedOrder
import org.apache.spark.sql.streamjoin.physical.stateful.times.PassesRows

/**
 * Physical operator that declares the order of its rows in terms of the query's columns, as far as
 * the plan below preserves that order. Rows pass through unchanged.
 */
case class InOrderExec(claimed: ClaimedOrder, child: SparkPlan) extends PassesRows {

  override def nodeName: String = "InOrder"

  override def simpleString(maxFields: Int): String =
    s"InOrder by ${claimed.words.take(outputOrdering.length).mkString(", ")}"

  /** The plan below lacks a key that it does not preserve, and all keys after it. */
  override def outputOrdering: Seq[SortOrder] = claimed.order.take(child.outputOrdering.length)

  override protected def withNewChildInternal(newChild: SparkPlan): InOrderExec =
    copy(child = newChild)
}
