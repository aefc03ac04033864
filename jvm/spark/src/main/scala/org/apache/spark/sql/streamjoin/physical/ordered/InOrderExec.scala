package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.logical.plan.ClaimedOrder

/** Says the order of its rows by the columns of the analysis, as far as the plan below keeps it. */
case class InOrderExec(claimed: ClaimedOrder, child: SparkPlan) extends UnaryExecNode {

  override def nodeName: String = "InOrder"

  override def simpleString(maxFields: Int): String =
    s"InOrder by ${claimed.words.take(outputOrdering.length).mkString(", ")}"

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  /** A key that the plan below has lost is missing there, and so are those after it. */
  override def outputOrdering: Seq[SortOrder] = claimed.order.take(child.outputOrdering.length)

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): InOrderExec =
    copy(child = newChild)
}
