package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  Attribute,
  AttributeSet,
  Literal,
  SortOrder
}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  Partitioning,
  StatefulOpClusteredDistribution,
  UnknownPartitioning
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.checkpoint.{JoinDescription, StateFormat}
import org.apache.spark.sql.streamjoin.logical.plan.KeyHash
import org.apache.spark.sql.streamjoin.physical.stateful.{
  BatchInfo,
  ExplainedLine,
  OperatorMetrics,
  ReportingExec,
  StatefulBinaryExec
}
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.Side

/**
 * The changelog join as a physical operator: both inputs shuffled by their join key and sorted by its
 * hash, then [[ChangelogTask]] per partition. Without an equality all rows are in one partition.
 *
 * Deterministic: a batch that is run again from the same state and offsets gives the same changes.
 */
class ChangelogJoinExec(
    leftInput: SparkPlan,
    rightInput: SparkPlan,
    batch: BatchInfo,
    val spec: ChangelogSpec
) extends StatefulBinaryExec(leftInput, rightInput, batch)
    with ReportingExec {

  override def nodeName: String = "ChangelogJoin"

  override def shortName: String = JoinDescription.Operator

  override def simpleString(maxFields: Int): String = s"ChangelogJoin ${spec.joinType.name}"

  override protected def explained: Seq[String] = spec.explained

  override def innerChildren: Seq[QueryPlan[_]] = spec.explained.map(ExplainedLine(_))

  override def output: Seq[Attribute] = spec.shown

  override def producedAttributes: AttributeSet = AttributeSet(spec.changes)

  override def requiredChildDistribution: Seq[Distribution] = Side.both.map { side =>
    val keys = spec.keys(side)
    StatefulOpClusteredDistribution(
      if (keys.isEmpty) Seq(Literal(0)) else keys,
      getStateInfo.numPartitions
    )
  }

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Side.both.map { side =>
    if (spec.equiKeys.isEmpty) Nil else Seq(SortOrder(KeyHash.of(spec.keys(side)), Ascending))
  }

  override def outputPartitioning: Partitioning = UnknownPartitioning(getStateInfo.numPartitions)

  // ---- tree ----

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): ChangelogJoinExec = new ChangelogJoinExec(left, right, batch, spec)

  override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, right, batch, spec)

  // ---- state ----

  override protected def description(format: StateFormat): String =
    DescribedChangelog.of(spec, format).json

  override protected def storedRows(side: Side): StructType = spec.side(side).stored

  /** Rows come out at any age. */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = None

  override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean = false

  // ---- execution ----

  override protected def doExecute(): RDD[InternalRow] = {
    val now = batch.timeMs.getOrElse(
      throw new IllegalStateException("the batch has no recorded time; the plan cannot be run")
    )
    val task = new ChangelogTask(spec, now, partitionState, report)
    perPartition(left.execute(), right.execute())(task.run)
  }

  override protected def figures: OperatorMetrics = ChangelogJoinExec.Figures
}

object ChangelogJoinExec {

  private[physical] val Figures: OperatorMetrics = ChangelogMetrics.figures
}
