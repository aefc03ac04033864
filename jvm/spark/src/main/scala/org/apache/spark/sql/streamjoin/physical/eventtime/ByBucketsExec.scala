package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  SortOrder,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  Partitioning,
  StatefulOpClusteredDistribution,
  UnknownPartitioning
}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.IntegerType

import io.streamjoin.model.{Routing, Side}

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
    child.execute().mapPartitionsInternal(_.map(UnsafeProjection.create(own, all)))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ByBucketsExec =
    copy(child = newChild)
}

private[eventtime] object ByBucketsExec {

  /** The input as the join asks for it: with what brings its rows together, where they go by their times. */
  def over(input: SparkPlan, spec: StreamJoinSpec, side: Side, partitions: Int): SparkPlan =
    spec.routing match {
      case _: Routing.ByBuckets =>
        val number = AttributeReference("_bucket", IntegerType, nullable = false)()
        ByBucketsExec(number, partitions, ToBucketsExec(spec, side, partitions, number, input))
      case _ => input
    }
}
