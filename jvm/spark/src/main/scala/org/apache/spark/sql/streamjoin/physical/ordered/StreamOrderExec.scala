package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.streamjoin.checkpoint.StateFormat
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.OrderScope
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.exchange.{ExchangeInput, StreamExchangeExec}
import org.apache.spark.sql.streamjoin.physical.stateful._
import org.apache.spark.sql.types.StructType

import io.streamjoin.join.ordered.{OrderOperator, TimeBuckets}
import io.streamjoin.model.{Side, Watermarks}

/**
 * The rows of a stream in the order of an event time, as a physical operator.
 *
 * {{{
 *   input --(shuffle)--> OrderTask           1. the input has been read: the batch's event times are
 *                        per partition           known, and what all tasks of the joins below, which
 *                            |                   the driver has run, still hold
 *                     range of times         2. each task holds rows back, and commits
 *                            |               3. what came out goes by ranges of its times to
 *                        SortedRange             partitions, the first of which has the first rows
 * }}}
 *
 * An order that reaches no further than each partition is sorted where it was held back.
 *
 * Ranges need no look at the rows: what comes out lies below one limit. No row has a partition of its
 * own to be held back in, so rows stay where they are if there are as many partitions as in the state.
 */
class StreamOrderExec(child: SparkPlan, batch: BatchInfo, val spec: OrderSpec)
    extends StatefulBinaryExec(child, ExplainedLine(spec.explained.last), batch)
    with EventTimeExec {

  override def nodeName: String = "StreamOrder"

  override def shortName: String = StreamOrderExec.Operator

  override def simpleString(maxFields: Int): String =
    s"StreamOrder by ${spec.summary}"

  override protected def explained: Seq[String] = spec.explained

  override def innerChildren: Seq[QueryPlan[_]] = spec.explained.init.map(ExplainedLine(_))

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = spec.scope match {
    case OrderScope.Query         => UnknownPartitioning(0)
    case OrderScope.OnePartition  => SinglePartition
    case OrderScope.EachPartition => left.outputPartitioning
  }

  /** That of each partition. A window counts as its end, by which Spark does not sort. */
  override def outputOrdering: Seq[SortOrder] =
    if (TimeUnit.isWindow(spec.time.dataType)) Nil else spec.order

  override def requiredChildDistribution: Seq[Distribution] =
    if (staysWhereItIs) Seq(UnspecifiedDistribution, UnspecifiedDistribution)
    else Seq(spread, UnspecifiedDistribution)

  private def staysWhereItIs: Boolean =
    left.outputPartitioning.numPartitions == getStateInfo.numPartitions &&
      (left.exists(_.isInstanceOf[StatefulBinaryExec]) ||
        spec.scope == OrderScope.EachPartition && JoinInputs.isShuffle(left))

  private def spread: Distribution = StatefulOpClusteredDistribution(
    JoinDistribution.hashable(left.output),
    getStateInfo.numPartitions
  )

  // ---- tree ----

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): StreamOrderExec = new StreamOrderExec(left, batch, spec)

  override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, batch, spec)

  // ---- state ----

  override protected def description(format: StateFormat): String =
    DescribedOrder.json(spec, format)

  override protected def sources: Seq[(String, Seq[String])] = Seq("input" -> spec.sources)

  override protected def storedRows(side: Side): StructType =
    if (side == OrderOperator.BufferSide) DataTypeUtils.fromAttributes(left.output)
    else new StructType()

  // ---- watermarks ----

  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = None

  override protected def bases: Seq[BaseColumn] = spec.bases

  override protected def watermarkCount: Int = 1

  override protected def shownWatermarks(received: Array[Long]): Map[String, Long] =
    received.headOption.filter(_ != Watermarks.Unknown).map { limit =>
      s"watermark.${spec.column}" -> spec.unit.shown(limit)
    }.toMap

  override protected def figures: OperatorMetrics = StreamOrderExec.Figures

  /** The ranges in which rows come out are an exchange of their own. */
  override protected def furtherMetrics: Map[String, SQLMetric] = StreamExchangeExec.metrics(this)

  // ---- execution ----

  override protected def doExecute(): RDD[InternalRow] = {
    val input = JoinInputs.shuffled(left, spread)
    val below =
      if (spec.byHeld) HeldBelow.of(input, spec.watermark) else HeldBelow.nothing
    below.watch()
    val arrived = arrivals("aheadRows" -> input)
    // the rows of a shuffle wait in it; where each partition has its own order, none waits
    val waiting =
      Option.when(!below.isEmpty && !JoinInputs.isShuffle(input)) {
        RowsInPlace.run(input.execute(), left.output.length)
      }
    if (!below.isEmpty && waiting.isEmpty) JoinInputs.run(input)
    val rows = waiting.fold(input.execute())(_.rows)
    val remaining = below.remaining(spec.watermark)
    val task = new OrderTask(spec, remaining, left.output, arrived, partitionState, report)
    val nothing = sparkContext.parallelize(Seq.empty[InternalRow], getStateInfo.numPartitions)
    val range = new SortedRange(spec, left.output)
    val ranges =
      if (spec.scope == OrderScope.EachPartition)
        perPartition(rows, nothing)((partition, rows, _) => task.run(partition, rows))
      else
        OrderedRanges.of(
          ExchangeInput(
            perPartition(rows, nothing)((partition, rows, _) => task.numbered(partition, rows)),
            TimeBuckets.Count,
            left.output.length,
            longMetric("dataSize"),
            longMetric("shuffleRecordsWritten")
          ),
          spec.scope == OrderScope.OnePartition,
          conf
        )
    waiting.foreach(_.free())
    ranges.mapPartitionsInternal(range.sorted)
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
      Figure("aheadRows", "rows too far ahead")
    )
  )
}
