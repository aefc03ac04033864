package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution, Partitioning}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash
import org.apache.spark.sql.streamjoin.physical.stateful.shown.ExplainedLine
import org.apache.spark.sql.streamjoin.spark.SparkFactories
import org.apache.spark.util.CompletionIterator

import io.streamjoin.join.{Count, Counters}

/**
 * Physical operator that consolidates the changes of a batch, see [[Consolidate]]. A join
 * consolidates the changes of one join key only. If the query drops the join key, a row deleted
 * under one join key may equal a row inserted under another.
 *
 * The operator has no state: the two changes that cancel are in one batch.
 *
 * @param reason the reason for the operator, for `explain`
 */
case class ConsolidateExec(
    by: Consolidate,
    reason: String,
    child: SparkPlan
) extends UnaryExecNode {

  override def nodeName: String = "Consolidate"

  private def key: String =
    if (by.key.isEmpty) "all columns" else by.key.map(_.name).mkString(", ")

  override def simpleString(maxFields: Int): String = by.keep match {
    case Consolidate.Latest => s"$nodeName to the latest of each $key"
    case Consolidate.All =>
      s"$nodeName by $key${if (by.within.isEmpty) "" else ", within each join key"}"
  }

  private def explained: Seq[String] = Seq(
    s"$reason: " + (
      if (by.certain) "changes that cancel are dropped"
      else "updates without a change are emitted, because a partner may have expired"
    ),
    by.keep match {
      case Consolidate.Latest                => s"one change of each key ($key) is emitted"
      case Consolidate.All if by.key.isEmpty => "changes are emitted as insert and delete"
      case Consolidate.All =>
        s"two images of one key ($key) are emitted as an update" +
          (if (by.within.isEmpty) ", also where the join key changed" else "")
    }
  )

  override def innerChildren: Seq[QueryPlan[_]] = explained.map(ExplainedLine(_))

  override def verboseStringWithOperatorId(): String =
    s"\n$formattedNodeName\n${(simpleString(0) +: explained).mkString("\n")}\n"

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "suppressedUpdates" ->
      SQLMetrics.createMetric(sparkContext, "updates that change no output column")
  )

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def requiredChildDistribution: Seq[Distribution] = Seq(
    if (by.together.isEmpty) AllTuples else SparkFactories.clustered(by.together)
  )

  /** Sorted by a hash, because not all types have an order. */
  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(
    if (by.together.isEmpty) Nil else Seq(SortOrder(KeyHash.of(by.together), Ascending))
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val (how, columns) = (by, child.output)
    val (rowsOut, suppressed) = (longMetric("numOutputRows"), longMetric("suppressedUpdates"))
    child.execute().mapPartitionsInternal { rows =>
      val counters = new Counters
      val consolidated = new ConsolidatedRuns(how, columns, rows, counters).output.map { row =>
        rowsOut += 1
        row
      }
      CompletionIterator[InternalRow, Iterator[InternalRow]](
        consolidated,
        suppressed.set(counters.rows(Count.Suppressed))
      )
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ConsolidateExec =
    copy(child = newChild)
}
