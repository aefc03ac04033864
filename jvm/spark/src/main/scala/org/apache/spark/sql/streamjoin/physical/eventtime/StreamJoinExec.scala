package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  Partitioning,
  UnknownPartitioning,
  UnspecifiedDistribution
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.checkpoint.{JoinDescription, StateFormat}
import org.apache.spark.sql.streamjoin.physical.stateful._
import org.apache.spark.util.CollectionAccumulator

import io.streamjoin.join.eventtime.{HotKeyRule, TaskLoad}
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing
import io.streamjoin.watermark.WatermarkPlan

/**
 * The event-time join as a physical operator.
 *
 * {{{
 *   left input --(shuffle)--+                        1. both inputs have been read when the tasks are
 *                           +--> JoinTask             written: the batch's event times are known
 *   right input -(shuffle)--+    per partition        2. each task joins, evicts and commits
 * }}}
 *
 * Works on driver and, through [[JoinTask]], on executors. Deterministic: a batch that is run again
 * from the same state and offsets gives the same rows.
 */
class StreamJoinExec(
    leftInput: SparkPlan,
    rightInput: SparkPlan,
    batch: BatchInfo,
    val spec: StreamJoinSpec
) extends StatefulBinaryExec(leftInput, rightInput, batch)
    with ReportsDisorder {

  override def nodeName: String = "StreamJoin"

  override def shortName: String = JoinDescription.Operator

  override def simpleString(maxFields: Int): String =
    Seq(s"StreamJoin ${spec.joinType.name}", JoinExplanation.routing(spec), spec.said.summary)
      .filter(_.nonEmpty)
      .mkString(", ")

  override def output: Seq[Attribute] = spec.output.required

  override def requiredChildDistribution: Seq[Distribution] = spec.routing match {
    case _: Routing.ByBuckets => Seq.fill(2)(UnspecifiedDistribution)
    case routing => JoinDistribution.required(
        routing,
        side => spec.equiKeys.map(_.of(side)),
        input.map(_.output),
        getStateInfo.numPartitions
      )
  }

  override def outputPartitioning: Partitioning = spec.joinType match {
    case _ if spec.routing != Routing.ByKey =>
      UnknownPartitioning(getStateInfo.numPartitions)
    // a late row is where its own key is, and has NULL for that of the other input
    case _ if spec.output.late.nonEmpty && !spec.joinType.leftOnly =>
      UnknownPartitioning(getStateInfo.numPartitions)
    case joinType => partitionedAs(joinType)
  }

  // ---- tree ----

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): StreamJoinExec = batch.stateInfo match {
    case Some(info) if this.batch.stateInfo.isEmpty =>
      val routed = spec.copy(routing = routing(info))
      new StreamJoinExec(
        BucketPlacement.over(left, routed, Side.Left, info.numPartitions),
        BucketPlacement.over(right, routed, Side.Right, info.numPartitions),
        batch,
        routed
      )
    case _ => new StreamJoinExec(left, right, batch, spec)
  }

  /** How the rows of a batch go. */
  private def routing(info: StatefulOperatorStateInfo): Routing =
    hotKeyWatch(info) match {
      case Some(watch) =>
        val rule = Option.when(conf.getConf(StreamJoinConf.HotKeys))(
          HotKeyRule(
            conf.getConf(StreamJoinConf.HotKeyRows),
            conf.getConf(StreamJoinConf.HotKeyBuckets)
          )
        )
        val hot = watch.keysOf(info.storeVersion, rule)
        if (hot.size == 0) Routing.ByKey
        else Routing.ByKeyAndTime(Routing.single(spec.joinType), hot)
      case None => RoutingOfQuery(spec.routing, spec.joinType, info, session)
    }

  /** Where rows of a key can lie in one partition only, there is nothing to watch. */
  private def hotKeyWatch(info: StatefulOperatorStateInfo): Option[HotKeyWatch] =
    spec.hotBuckets
      .filter(_ => info.numPartitions > 1)
      .map(HotKeyWatch.of(info, _, session.sessionState.newHadoopConf()))

  override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, right, batch, spec)

  // ---- state ----

  override protected def description(format: StateFormat): String =
    DescribedJoin.of(spec, format).json

  // ---- watermarks ----

  /** Rows that come out are at most this much older than the slowest watermark below. */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] =
    holdBackMs(spec.output.columns, passed).map(inputWatermarkMs - _)

  private def passed: Seq[(Expression, WatermarkPlan)] =
    bounds.columns.indices.filter(bounds.columns(_).watermarked).map { i =>
      times(i) -> WatermarkPlan.Joined(spec.times.watermarks, i)
    }

  override protected def joinSpec: StreamJoinSpec = spec

  @transient private var held: Option[EarliestTimes] = None

  /**
   * Has the tasks tell the earliest times of what they hold, by column: of all rows, and of those that have met
   * nothing; to be asked for before they run.
   */
  private[physical] def watchHeld(): Unit =
    if (held.isEmpty) held = Some(registered(new EarliestTimes(2 * bounds.columns.length)))

  /** Those times, once all tasks of the batch have run. */
  private[physical] def earliestBuffered: Option[WatermarkPlan.Buffered] = held.map { times =>
    val (all, unmatched) = times.value.toIndexedSeq.splitAt(bounds.columns.length)
    WatermarkPlan.Buffered(all, unmatched, spec.joinType.preserved)
  }

  // ---- execution ----

  private[physical] def program: JoinProgram = JoinProgram(spec, input.map(_.output))

  override protected def doExecute(): RDD[InternalRow] = {
    val partitions = getStateInfo.numPartitions
    val distribution = requiredChildDistribution
    val (l, r) = JoinInputs.shuffled(left, right, distribution)
    val arrived = arrivals("aheadRowsLeft" -> l, "aheadRowsRight" -> r)
    val loads = hotKeyWatch(getStateInfo).map { watch =>
      val loads = registered(new CollectionAccumulator[TaskLoad])
      watch.listen(loads)
      loads
    }
    val task = new JoinTask(
      HandedProgram.of(getStateInfo, sparkContext, program),
      arrived,
      partitionState,
      joinReport(held, loads)
    )
    perPartition(
      JoinInputs.rows(l, distribution.head, partitions),
      JoinInputs.rows(r, distribution.last, partitions)
    )(task.run)
  }

  override protected def emitsUnmatchedOnly: Boolean = spec.joinType == JoinType.LeftAnti
}
