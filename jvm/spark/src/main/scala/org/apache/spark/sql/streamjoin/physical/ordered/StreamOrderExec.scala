package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinHelper.StateStoreAwareZipPartitionsHelper
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.checkpoint.StateFormat
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful._
import org.apache.spark.sql.types.{MapType, StructType, VariantType}
import org.apache.spark.util.AccumulatorV2

import io.streamjoin.join.ordered.OrderOperator
import io.streamjoin.model.{Side, Watermarks}

/**
 * The rows of a stream in the order of an event time, as a physical operator.
 *
 * {{{
 *   input --(shuffle)--> OrderTask           1. the driver runs the input up to its shuffle: the
 *                        per partition           batch's event times are known
 *                            |               2. each task holds rows back, and commits
 *                     range of times         3. what came out goes by ranges of its times to
 *                            |                   partitions, the first of which has the first rows
 *                        SortedRange
 * }}}
 *
 * Ranges need no look at the rows: what comes out lies below one limit. No row has a partition of its
 * own to be held back in, so rows stay where they are if there are as many partitions as in the state.
 */
class StreamOrderExec(child: SparkPlan, batch: BatchInfo, val spec: OrderSpec)
    extends StatefulBinaryExec(child, ExplainedLine(spec.explained.last), batch)
    with CheckpointedState {

  override def nodeName: String = "StreamOrder"

  override def shortName: String = StreamOrderExec.Operator

  override def simpleString(maxFields: Int): String =
    s"StreamOrder ${spec.order.map(_.sql).mkString("[", ", ", "]")}"

  override def verboseStringWithOperatorId(): String =
    s"$formattedNodeName\n${(simpleString(0) +: spec.explained).mkString("\n")}\n"

  override def innerChildren: Seq[QueryPlan[_]] = spec.explained.init.map(ExplainedLine(_))

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning =
    if (spec.single) SinglePartition else UnknownPartitioning(0)

  override def outputOrdering: Seq[SortOrder] = Nil

  override def requiredChildDistribution: Seq[Distribution] =
    if (staysWhereItIs) Seq(UnspecifiedDistribution, UnspecifiedDistribution)
    else Seq(spread, UnspecifiedDistribution)

  private def staysWhereItIs: Boolean =
    left.exists(_.isInstanceOf[StatefulBinaryExec]) &&
      left.outputPartitioning.numPartitions == getStateInfo.numPartitions

  private def spread: Distribution = StatefulOpClusteredDistribution(
    left.output.filterNot(_.dataType.existsRecursively {
      case _: MapType | _: VariantType => true
      case _                           => false
    }),
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

  override protected def storedRows(side: Side): StructType =
    if (side == OrderOperator.Held) DataTypeUtils.fromAttributes(left.output) else new StructType()

  // ---- watermarks ----

  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = None

  override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean = {
    val propagated = spec.bases.exists(_.isInstanceOf[BaseColumn.Propagated]) &&
      batch.watermarkForEviction.exists(newInputWatermark > _)
    propagated || longMetric("numTotalStateRows").value > 0 && BaseWatermarks.turnsIdle(
      spec.bases,
      lastActiveMs.value,
      batch.timeMs,
      System.currentTimeMillis()
    )
  }

  // ---- execution ----

  @transient private lazy val reached: LargestNumbers = registered(new LargestNumbers(1))

  @transient private lazy val lastActiveMs: LargestNumbers =
    registered(new LargestNumbers(spec.bases.length))

  @transient private lazy val ofPartitions: PartitionCounts = registered(new PartitionCounts)

  private def registered[A <: AccumulatorV2[_, _]](accumulator: A): A = {
    sparkContext.register(accumulator)
    accumulator
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val info = getStateInfo
    val input = JoinInputs.shuffled(left, spread)
    JoinInputs.materialize(Seq(input))
    countAhead(input)
    val task = new OrderTask(
      spec,
      left.output,
      BatchArrivals.of(spec.bases, Seq(input), batch),
      partitionState,
      conf.getConf(StreamJoinConf.MaxBufferedRows),
      new BatchReport(metrics, ofPartitions, reached, lastActiveMs)
    )
    val held = input.execute().stateStoreAwareZipPartitions(
      sparkContext.parallelize(Seq.empty[InternalRow], info.numPartitions),
      info,
      stateStoreNames,
      session.sessionState.streamingQueryManager.stateStoreCoordinator
    )((partition, rows, _) => task.run(partition, rows))
    val range = new SortedRange(spec, left.output)
    OrderedRanges
      .of(
        held,
        left.output.length,
        spec.single,
        conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES),
        metrics
      )
      .mapPartitionsInternal(range.sorted)
  }

  private def countAhead(input: SparkPlan): Unit = {
    val metric = longMetric("aheadRows")
    metric.set(JoinInputs.ahead(input))
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, Seq(metric))
  }

  // ---- metrics ----

  override lazy val metrics: Map[String, SQLMetric] = OrderMetrics.create(sparkContext)

  override def getProgress(): StateOperatorProgress = {
    val counts = ofPartitions.value
    OrderMetrics.progress(
      shortName,
      name => counts.getOrElse(name, longMetric(name).value),
      Some(reached.value(0)).filter(_ != Watermarks.Unknown).map { limit =>
        s"watermark.${spec.column}" -> spec.unit.shown(limit)
      },
      getStateInfo.numPartitions
    )
  }
}

object StreamOrderExec {

  /** The operator's name in progress reports and in the state's metadata. */
  val Operator: String = "streamOrder"
}
