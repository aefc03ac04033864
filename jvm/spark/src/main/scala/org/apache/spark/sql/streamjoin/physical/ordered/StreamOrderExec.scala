package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{REQUIRED_BY_STATEFUL_OPERATOR, ShuffleExchangeExec}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.streamjoin.checkpoint.StateFormat
import org.apache.spark.sql.streamjoin.checkpoint.pending.StoredOrder
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.nodes.OrderScope
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.physical.exchange.{ExchangeInput, StreamExchangeExec}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.{
  BatchInfo,
  EventTimeExec,
  JoinDistribution,
  JoinInputs,
  StatefulBinaryExec,
  StoredLayout
}
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{
  ExplainedLine,
  Figure,
  OperatorMetrics
}
import org.apache.spark.sql.streamjoin.spark.{SparkFactories, StatefulOperatorStateInfo}

import io.streamjoin.join.ordered.{OrderOperator, TimeBuckets}
import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.watermark.WatermarkPlan

/**
 * Physical operator of the ordered output: emits the rows of a stream by event time.
 *
 * {{{
 *   input --(shuffle)--> OrderTask --(time bucket)--> OrderedRanges
 *                        buffers rows, commits        sorts a range of times
 * }}}
 *
 * When the input has been read, the driver knows the event times of the batch, and the earliest
 * rows that the joins below still buffer. So a task knows the limit below which no later row can
 * be, and emits the rows that the limit has reached. They are range-partitioned by time, and the
 * first partition has the earliest rows.
 *
 * Example, with a lag of 5 minutes:
 *
 * {{{
 *   batch 1   12:07, 12:03, 12:01   limit 12:02   emits 12:01
 *   batch 2   12:04, 12:12          limit 12:07   emits 12:03, 12:04, 12:07; buffers 12:12
 *   batch 3   12:05                 limit 12:07   late, dropped
 * }}}
 *
 * With [[OrderScope.EachPartition]] the emitted rows are sorted where they were buffered.
 *
 * No emitted row is beyond the limit, so the ranges are chosen without sampling. A row may be
 * buffered in any partition, so no shuffle is needed if the input has as many partitions as the
 * state.
 *
 * The operator has one input. The class that it extends has two, for the reason in
 * `docs/internals/decisions/0023-subclass-for-plumbing.md`, so the second child is a line of
 * EXPLAIN without rows.
 */
class StreamOrderExec(child: SparkPlan, batch: BatchInfo, val spec: OrderSpec)
    extends StatefulBinaryExec(child, ExplainedLine(spec.explanation.lines.last), batch)
    with EventTimeExec {

  override def nodeName: String = "StreamOrder"

  override def shortName: String = StreamOrderExec.Operator

  override def simpleString(maxFields: Int): String =
    s"StreamOrder by ${spec.explanation.summary}"

  override protected def explained: Seq[String] = spec.explanation.lines

  override def innerChildren: Seq[QueryPlan[_]] = spec.explanation.lines.init.map(ExplainedLine(_))

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = spec.scope match {
    case OrderScope.Query         => UnknownPartitioning(0)
    case OrderScope.OnePartition  => SinglePartition
    case OrderScope.EachPartition => left.outputPartitioning
  }

  /** The order of each partition. A window is ordered by its end, which Spark cannot express. */
  override def outputOrdering: Seq[SortOrder] =
    if (TimeUnit.isWindow(spec.time.dataType)) Nil else spec.order

  override def requiredChildDistribution: Seq[Distribution] =
    if (staysWhereItIs) Seq(UnspecifiedDistribution, UnspecifiedDistribution)
    else Seq(spread, UnspecifiedDistribution)

  private def staysWhereItIs: Boolean =
    left.outputPartitioning.numPartitions == getStateInfo.numPartitions &&
      (left.exists(_.isInstanceOf[StatefulBinaryExec]) ||
        spec.scope == OrderScope.EachPartition && left.exists(JoinInputs.isShuffle) &&
        !JoinInputs.unseen(left))

  private def spread: Distribution = {
    val keys = if (spec.scope == OrderScope.EachPartition) repartitionedBy(left) else None
    StatefulOpClusteredDistribution(
      keys.getOrElse(JoinDistribution.hashable(left.output)),
      getStateInfo.numPartitions
    )
  }

  /** The keys of the topmost shuffle. Spark's watermark operator does not pass a partitioning. */
  private def repartitionedBy(plan: SparkPlan): Option[Seq[Expression]] =
    (plan.outputPartitioning, plan.children) match {
      case (HashPartitioning(keys, _), _) if keys.forall(_.references.subsetOf(left.outputSet)) =>
        Some(keys)
      case (_, Seq(below)) => repartitionedBy(below)
      case _               => None
    }

  // ---- tree ----

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): StreamOrderExec = {
    val input =
      if (spec.scope == OrderScope.EachPartition) keepingKeys(left, batch.stateInfo) else left
    new StreamOrderExec(input, batch, spec)
  }

  /**
   * The input with all rows of a key in one partition, because each partition is sorted alone: the
   * join below spreads no key, and a shuffle by keys has the partitions of the state.
   */
  private def keepingKeys(
      input: SparkPlan,
      state: Option[StatefulOperatorStateInfo]
  ): SparkPlan = input match {
    case j: StreamJoinExec     => j.keepingKeys
    case _: StatefulBinaryExec => input
    case shuffle: ShuffleExchangeExec =>
      (shuffle.outputPartitioning, state) match {
        case (HashPartitioning(keys, n), Some(info)) if n != info.numPartitions =>
          val partitioning = HashPartitioning(keys, info.numPartitions)
          SparkFactories.shuffle(partitioning, shuffle.child, REQUIRED_BY_STATEFUL_OPERATOR)
        case _ => shuffle
      }
    case other if JoinInputs.isShuffle(other) => other
    case other                                => other.mapChildren(keepingKeys(_, state))
  }

  override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, batch, spec)

  // ---- state ----

  override protected def description(format: StateFormat): String =
    spec.description(format)

  /** Within a partition, a row must stay beside the later rows of its key. */
  override private[streamjoin] def layout: Option[StoredLayout] =
    Option.when(spec.scope != OrderScope.EachPartition)(
      new OrderLayout(spec, left.output, StoredOrder.read(spec.description(format)))
    )

  override protected def inputs: Seq[(String, SparkPlan)] = Seq("input" -> left)

  override protected def storedColumns(side: Side): Seq[Attribute] =
    if (side == OrderOperator.BufferSide) left.output else Nil

  override protected def identifying: Seq[(String, Expression)] = Seq("order" -> spec.time)

  // ---- watermarks ----

  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = None

  override private[streamjoin] def bases: Seq[BaseColumn] = spec.bases

  override private[streamjoin] def watermarkPlans: Seq[WatermarkPlan] = Seq(spec.watermark)

  override protected def watermarkCount: Int = 1

  override protected def shownWatermarks(received: Array[Long]): Map[String, Long] =
    received.headOption.filter(_ != Watermarks.Unknown).map { limit =>
      s"watermark.${spec.column}" -> spec.unit.shown(limit)
    }.toMap

  override protected def shownBases: Map[Int, String] = spec.watermark match {
    case WatermarkPlan.Base(i) => Map(i -> spec.column)
    case _                     => Map.empty
  }

  override protected def describedBase(source: Int): Option[String] = shownBases.get(source)

  override protected def figures: OperatorMetrics = StreamOrderExec.Figures

  /** The operator contains its own exchange by time bucket. */
  override protected def furtherMetrics: Map[String, SQLMetric] = StreamExchangeExec.metrics(this)

  // ---- execution ----

  override protected def shuffled: Seq[SparkPlan] = Seq(JoinInputs.shuffled(left, spread))

  override protected def doExecute(): RDD[InternalRow] = {
    val input = read.head
    val below =
      if (spec.byHeld) BufferedBelow.of(input, spec.watermark) else BufferedBelow.nothing
    below.watch()
    val arrived = arrivals(Figure.Ahead.name)
    // a shuffle stores its rows itself; other rows wait in storage until all joins below have run
    val waiting =
      Option.when(!below.isEmpty && !JoinInputs.isShuffle(input)) {
        RowsInPlace.run(input.execute(), left.output.length)
      }
    if (!below.isEmpty && waiting.isEmpty) JoinInputs.run(input)
    val rows = waiting.fold(input.execute())(_.rows)
    val remaining = below.remaining(spec.watermark)
    val nothing = sparkContext.parallelize(Seq.empty[InternalRow], getStateInfo.numPartitions)
    val (order, columns, state, batchReport) = (spec, left.output, partitionState, report)
    val emitted = perPartition(rows, nothing) { (partition, rows, _) =>
      new OrderTask(partition, order, remaining, columns, arrived(), state, batchReport)
        .numbered(rows)
    }
    val ranges =
      if (spec.scope == OrderScope.EachPartition) emitted.mapPartitionsInternal(_.map(_.row))
      else
        OrderedRanges.of(
          ExchangeInput(
            emitted,
            TimeBuckets.Count,
            left.output.length,
            longMetric("dataSize"),
            longMetric("shuffleRecordsWritten")
          ),
          spec.scope == OrderScope.OnePartition,
          conf
        )
    waiting.foreach(_.free())
    ranges.mapPartitionsInternal(OrderedRanges.sorted(order, columns)(_))
  }
}

object StreamOrderExec {

  /** The operator's name in progress reports and in the state's metadata. */
  val Operator: String = "streamOrder"

  private[physical] val Figures = new OperatorMetrics(
    Seq(
      Figure("heldRows", "rows held back", isReading = true),
      Figure("lateRows", "late rows"),
      Figure("nullTimeRows", "rows without a time"),
      Figure.Ahead
    )
  )
}
