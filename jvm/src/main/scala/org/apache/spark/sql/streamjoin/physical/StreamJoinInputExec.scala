package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.logical.StreamJoinInput
import org.apache.spark.sql.types.MetadataBuilder

/**
 * The input of a join, with columns that Spark does not know for event times, and that may be NULL
 * where they may be so in any batch.
 *
 * Spark refuses a join whose input has more than one such column; the join's own output gives the
 * marks back.
 */
case class StreamJoinInputExec(present: Set[ExprId], child: SparkPlan) extends UnaryExecNode {

  override def nodeName: String = "StreamJoinInput"

  override def simpleString(maxFields: Int): String = nodeName

  override def output: Seq[Attribute] = StreamJoinInput.nullable(child.output, present).map { a =>
    if (!a.metadata.contains(EventTimeWatermark.delayKey)) a
    else {
      a.withMetadata(
        new MetadataBuilder().withMetadata(a.metadata).remove(EventTimeWatermark.delayKey).build()
      )
    }
  }

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): StreamJoinInputExec =
    copy(child = newChild)
}
