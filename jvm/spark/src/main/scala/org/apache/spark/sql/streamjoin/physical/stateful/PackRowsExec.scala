package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * Rows in chunks for a shuffle, each with the partition that its rows go to. Spark's shuffle writes the size of each row
 * and reads it back a byte at a time; of chunks there are few. Behind it see [[UnpackRowsExec]].
 *
 * @param partitioning which row goes where
 */
case class PackRowsExec(partitioning: HashPartitioning, child: SparkPlan) extends UnaryExecNode {

  override def nodeName: String = "PackRows"

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of packed rows"))

  override def output: Seq[Attribute] = RowChunk.columns

  override def producedAttributes: AttributeSet = outputSet

  override protected def doExecute(): RDD[InternalRow] = {
    val (of, columns, packed) = (partitioning, child.output, longMetric("numOutputRows"))
    child.execute().mapPartitionsInternal { rows =>
      val number = UnsafeProjection.create(Seq(of.partitionIdExpression), columns)
      val counted = rows.asInstanceOf[Iterator[UnsafeRow]].map { row =>
        packed += 1
        row
      }
      new PackedByNumber(counted, of.numPartitions, number(_).getInt(0))
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PackRowsExec =
    copy(child = newChild)
}
