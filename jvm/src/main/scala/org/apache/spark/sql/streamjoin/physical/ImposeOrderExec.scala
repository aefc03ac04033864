package org.apache.spark.sql.streamjoin.physical

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** Passes rows on and notes the largest event time among them. */
case class ImposeOrderExec(orderId: UUID, column: Attribute, lag: Long, child: SparkPlan)
    extends UnaryExecNode {

  private[physical] val largest: LargestTime = new LargestTime
  sparkContext.register(largest)

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val noted = largest
    val ordinal = child.output.indexWhere(_.exprId == column.exprId)
    val read = TimeReader.of(column.dataType)
    child.execute().mapPartitionsInternal { rows =>
      rows.map { row =>
        if (!row.isNullAt(ordinal)) noted.add(read(row, ordinal))
        row
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ImposeOrderExec =
    copy(child = newChild)
}
