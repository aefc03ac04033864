package org.apache.spark.sql.streamjoin.physical.eventtime

import scala.jdk.CollectionConverters._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  Partitioning,
  UnspecifiedDistribution
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BatchInfo,
  JoinDistribution,
  StatefulBinaryExec,
  StoredLayout
}
import org.apache.spark.sql.streamjoin.physical.stateful.shown.BatchReport
import org.apache.spark.sql.streamjoin.physical.timed.{ReportsDisorder, TimedJoinSpec}
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.checkpoint.{JoinDescription, StateFormat}
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.{HotKeyRule, TaskLoad}
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * Physical operator of the event-time join.
 *
 * {{{
 *   left input  --(shuffle)--+
 *                            +--> JoinTask, per partition: join, evict, commit
 *   right input --(shuffle)--+
 * }}}
 *
 * Both inputs are behind a shuffle. So the event times of the whole batch are known when Spark
 * serializes the tasks of the join, and a task advances its watermarks in the same batch.
 *
 * Example, orders LEFT JOIN deliveries `ON d.time BETWEEN o.time AND o.time + 30 minutes`, with a
 * lag of 0:
 *
 * {{{
 *   batch 1   order 12:00      W(orders) 12:00                          buffered
 *   batch 2   delivery 12:20   W(orders) 12:00, W(deliveries) 12:20     emits 12:00 with 12:20
 *   batch 3   delivery 12:31   W(orders) 12:00, W(deliveries) 12:31     evicts the order
 * }}}
 *
 * The operator is deterministic. A batch that runs again from the same state and offsets emits the
 * same rows.
 */
class StreamJoinExec(
    leftInput: SparkPlan,
    rightInput: SparkPlan,
    batch: BatchInfo,
    val spec: TimedJoinSpec
) extends StatefulBinaryExec(leftInput, rightInput, batch)
    with ReportsDisorder {

  override def nodeName: String = "StreamJoin"

  override def simpleString(maxFields: Int): String =
    Seq(
      s"StreamJoin ${spec.joinType.name}",
      JoinExplanation.routing(spec),
      spec.explanation.summary
    )
      .filter(_.nonEmpty)
      .mkString(", ")

  override def output: Seq[Attribute] = spec.output.required

  override def requiredChildDistribution: Seq[Distribution] = spec.routing match {
    case _: Routing.ByBuckets => Seq.fill(2)(UnspecifiedDistribution)
    case routing => JoinDistribution.required(
        routing,
        spec.keys,
        input.map(_.output),
        getStateInfo.numPartitions
      )
  }

  override def outputPartitioning: Partitioning = partitioned(spec.routing == Routing.ByKey)

  // ---- tree ----

  /** The same join, which spreads no further hot key. */
  private[physical] def keepingKeys: StreamJoinExec =
    new StreamJoinExec(left, right, batch, spec.copy(keepsKeys = true))

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): StreamJoinExec = batch.stateInfo match {
    case Some(info) if this.batch.stateInfo.isEmpty =>
      val routed = this.routed(info)
      new StreamJoinExec(
        BucketPlacement.over(left, routed, Side.Left, info.numPartitions),
        BucketPlacement.over(right, routed, Side.Right, info.numPartitions),
        batch,
        routed
      )
    case _ => new StreamJoinExec(left, right, batch, spec)
  }

  /** The specification with the routing of the rows of a batch. */
  private def routed(info: StatefulOperatorStateInfo): TimedJoinSpec =
    hotKeyWatch(info) match {
      case Some(watch) =>
        val rule = Option.when(conf.getConf(StreamJoinConf.HotKeys) && !spec.keepsKeys)(
          HotKeyRule(
            conf.getConf(StreamJoinConf.HotKeyRows),
            conf.getConf(StreamJoinConf.HotKeyBuckets)
          )
        )
        val hot = watch.keysOf(info.storeVersion, rule)
        val routing =
          if (hot.keys.size == 0) Routing.ByKey
          else Routing.ByKeyAndTime(Routing.single(spec.joinType), hot.keys)
        spec.copy(routing = routing, hotKeySums = hot.sums)
      case None if spec.routing == Routing.ByKey => spec
      case None =>
        spec.copy(routing = routing(descriptionAsBegun(info)).getOrElse(spec.routing))
    }

  /**
   * The routing with which the query started: its state is partitioned by it. None if the
   * description is not one of this join, which the check before the first batch reports.
   */
  private def routing(description: String): Option[Routing] = {
    val joinType = JoinDescription.fields(description).get("joinType").map(JoinDescription.shown)
    JoinDescription.routing(description)
      .filter(_ != Routing.ByKey && joinType.contains(spec.joinType.name))
  }

  /** None if all rows of a key must stay in one partition. */
  private def hotKeyWatch(info: StatefulOperatorStateInfo): Option[HotKeyWatch] =
    spec.hotBuckets
      .filter(_ => info.numPartitions > 1)
      .map(HotKeyWatch.of(info, _, session))

  // ---- state ----

  override protected def description(format: StateFormat): String =
    spec.description(format).json

  override private[streamjoin] def layout: Option[StoredLayout] =
    Some(new EventTimeLayout(spec, input.map(_.output), spec.description(format)))

  // ---- watermarks ----

  override protected def passed: Seq[(Expression, WatermarkPlan)] =
    bounds.columns.indices.filter(bounds.columns(_).watermarked).map { i =>
      spec.times(i) -> WatermarkPlan.Joined(spec.times.watermarks, i)
    }

  override protected def joinSpec: TimedJoinSpec = spec

  /** Identifies the join in plans of watermarks. */
  private[physical] def joinId: JoinWatermarks.Id = spec.times.watermarks.id

  @transient private var held: Option[CollectionAccumulator[Array[Long]]] = None

  /**
   * Makes the tasks report the earliest times of their buffered rows by column: of all rows, and of
   * the unmatched ones. Must be called before the tasks run.
   */
  private[physical] def watchHeld(): Unit =
    if (held.isEmpty) held = Some(registered(new CollectionAccumulator[Array[Long]]))

  /** The earliest times, complete when all tasks of the batch have run. */
  private[physical] def earliestBuffered: Option[WatermarkPlan.Buffered] = held.map { times =>
    val columns = bounds.columns.length
    val least = BatchReport.smallest(times.value.asScala, 2 * columns)
    val (all, unmatched) = least.toIndexedSeq.splitAt(columns)
    WatermarkPlan.Buffered(all, unmatched, spec.joinType.preserved)
  }

  // ---- execution ----

  override protected def doExecute(): RDD[InternalRow] = {
    val loads = hotKeyWatch(getStateInfo).map { watch =>
      val loads = registered(new CollectionAccumulator[TaskLoad])
      watch.listen(loads)
      loads
    }
    val (of, columns, state, report) =
      (spec, input.map(_.output), partitionState, EventTimeReport(joinReport, held, loads))
    executed(new JoinTask(_, of, columns, _, state, report))
  }

  /** Runs a task in each partition. */
  protected def executed(task: (Int, BatchEnd) => JoinTask): RDD[InternalRow] =
    joined((partition, arrived) => task(partition, BatchEnd(isKnown = true, () => arrived)))

  override protected def emitsUnmatchedOnly: Boolean = spec.joinType == JoinType.LeftAnti
}
