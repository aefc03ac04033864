package org.apache.spark.sql.streamjoin.physical.stateful.times

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.logical.plan.EventTimeMarks

/** Physical operator of [[EventTimeMarks]]. Rows pass unchanged. */
case class EventTimeMarksExec(times: Seq[Attribute], delays: Seq[Long], child: SparkPlan)
    extends PassesRows {

  override def output: Seq[Attribute] = EventTimeMarks.marked(child.output, times, delays)

  override def argString(maxFields: Int): String = times.map(_.name).mkString(", ")

  override protected def withNewChildInternal(newChild: SparkPlan): EventTimeMarksExec =
    copy(child = newChild)
}
