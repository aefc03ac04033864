package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * The rows of a shuffle of chunks, see [[PackRowsExec]].
 *
 * @param columns those of the rows
 * @param partitioning which row went where
 */
case class UnpackRowsExec(
    columns: Seq[Attribute],
    partitioning: HashPartitioning,
    child: SparkPlan
) extends UnaryExecNode {

  override def nodeName: String = "UnpackRows"

  override def simpleString(maxFields: Int): String = nodeName

  override def output: Seq[Attribute] = columns

  override def producedAttributes: AttributeSet = outputSet

  override def outputPartitioning: Partitioning = partitioning

  override protected def doExecute(): RDD[InternalRow] = {
    val width = columns.length
    child.execute().mapPartitionsInternal(
      _.flatMap(chunk => RowChunk.rows(chunk.asInstanceOf[UnsafeRow], width))
    )
  }

  override protected def withNewChildInternal(newChild: SparkPlan): UnpackRowsExec =
    copy(child = newChild)
}
