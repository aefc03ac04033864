package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.logical.plan.EventTimeMarks

/** Physical operator of [[EventTimeMarks]]. Rows pass unchanged. */
case class EventTimeMarksExec(times: Seq[Attribute], delays: Seq[Long], child: SparkPlan)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = EventTimeMarks.marked(child.output, times, delays)

  override def argString(maxFields: Int): String = times.map(_.name).mkString(", ")

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): EventTimeMarksExec =
    copy(child = newChild)
}
