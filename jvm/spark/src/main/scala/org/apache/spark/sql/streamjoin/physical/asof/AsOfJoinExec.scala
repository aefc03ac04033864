package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, Partitioning}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.checkpoint.StateFormat
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BatchInfo,
  JoinDistribution,
  StatefulBinaryExec,
  StoredLayout
}
import org.apache.spark.sql.streamjoin.physical.timed.{ReportsDisorder, TimedJoinSpec}

import io.streamjoin.placement.Routing
import io.streamjoin.watermark.WatermarkPlan

/**
 * Physical operator of the as-of join. It requires both inputs shuffled by the key, and runs one
 * [[AsOfTask]] in each partition. Without an equality, one partition has all rows, since the last
 * rows are the last of all.
 *
 * A probe row is emitted once both watermarks have passed its time. Example, trades with the last
 * quote of their symbol, `q.time <= t.time`. The lag of both inputs is 1 minute:
 *
 * {{{
 *   batch   arriving rows of one symbol                watermarks t, q   emitted
 *   1       quotes 12:00, 12:05, 12:10; trade 12:07    12:06, 12:09
 *   2       trade 12:12                                12:11, 12:09      trade 12:07, quote 12:05
 * }}}
 *
 * It is deterministic: a batch that runs again from the same state and offsets emits the same rows.
 * For the algorithm see [[io.streamjoin.join.asof.AsOfJoin]].
 */
class AsOfJoinExec(
    leftInput: SparkPlan,
    rightInput: SparkPlan,
    batch: BatchInfo,
    val spec: AsOfSpec
) extends StatefulBinaryExec(leftInput, rightInput, batch)
    with ReportsDisorder {

  override def nodeName: String = "AsOfJoin"

  override def simpleString(maxFields: Int): String =
    s"AsOfJoin ${spec.join.joinType.name}, ${spec.join.explanation.summary}"

  override def output: Seq[Attribute] = spec.join.output.required

  override def requiredChildDistribution: Seq[Distribution] =
    JoinDistribution
      .required(Routing.ByKey, spec.join.keys, _ => Nil, getStateInfo.numPartitions)

  override def outputPartitioning: Partitioning = partitioned(spec.join.equiKeys.nonEmpty)

  // ---- tree ----

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): AsOfJoinExec = new AsOfJoinExec(left, right, batch, spec)

  // ---- state ----

  override protected def description(format: StateFormat): String =
    spec.description(format).json

  override private[streamjoin] def layout: Option[StoredLayout] =
    Some(new AsOfLayout(spec, input.map(_.output), spec.description(format)))

  override protected def identifying: Seq[(String, Expression)] =
    super.identifying ++ spec.versions.flatMap(_.sequence).map("sequence" -> _)

  // ---- watermarks ----

  override protected def passed: Seq[(Expression, WatermarkPlan)] = spec.passed

  override protected def joinSpec: TimedJoinSpec = spec.join

  // ---- execution ----

  override protected def doExecute(): RDD[InternalRow] = {
    val (of, columns, state, report) =
      (spec, input.map(_.output), partitionState, joinReport)
    joined(new AsOfTask(_, of, columns, _, state, report))
  }
}
