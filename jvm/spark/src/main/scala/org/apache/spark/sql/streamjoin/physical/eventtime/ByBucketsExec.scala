package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  SortOrder,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  Partitioning,
  StatefulOpClusteredDistribution,
  UnknownPartitioning
}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.IntegerType

import io.streamjoin.model.Side
import io.streamjoin.placement.Routing

/**
 * The rows of an input in the partitions of the buckets of their times: those of [[ToBucketsExec]] behind the
 * shuffle that it is made for, without the number.
 */
case class ByBucketsExec(number: Attribute, partitions: Int, child: SparkPlan)
    extends UnaryExecNode {

  override def nodeName: String = "ByBuckets"

  override def simpleString(maxFields: Int): String = nodeName

  override def output: Seq[Attribute] = child.output.filter(_.exprId != number.exprId)

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(StatefulOpClusteredDistribution(Seq(number), partitions))

  override def outputPartitioning: Partitioning = UnknownPartitioning(partitions)

  override def outputOrdering: Seq[SortOrder] = Nil

  override protected def doExecute(): RDD[InternalRow] = {
    val (own, all) = (output, child.output)
    child.execute().mapPartitionsInternal { rows =>
      if (ByBucketsExec.endsWithNumber(own)) ByBucketsExec.cut(rows, own.length)
      else rows.map(UnsafeProjection.create(own, all))
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ByBucketsExec =
    copy(child = newChild)
}

private[eventtime] object ByBucketsExec {

  /** Whether a row is the same bytes without the number, which are the last of it. */
  private def endsWithNumber(columns: Seq[Attribute]): Boolean =
    columns.forall(c => UnsafeRow.isFixedLength(c.dataType)) &&
      UnsafeRow.calculateBitSetWidthInBytes(columns.length) ==
      UnsafeRow.calculateBitSetWidthInBytes(columns.length + 1)

  /** Rows less their last column; what of their bytes says whether that is NULL stays 0. */
  private def cut(rows: Iterator[InternalRow], columns: Int): Iterator[InternalRow] = {
    val short = new UnsafeRow(columns)
    rows.map { r =>
      val row = r.asInstanceOf[UnsafeRow]
      short.pointTo(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes - WordBytes)
      short
    }
  }

  private val WordBytes = 8

  /** The input as the join asks for it: with what brings its rows together, where they go by their times. */
  def over(input: SparkPlan, spec: StreamJoinSpec, side: Side, partitions: Int): SparkPlan =
    spec.routing match {
      case _: Routing.ByBuckets =>
        val number = AttributeReference("_bucket", IntegerType, nullable = false)()
        ByBucketsExec(number, partitions, ToBucketsExec(spec, side, partitions, number, input))
      case _ => input
    }
}
