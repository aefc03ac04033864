package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.checkpoint.{JoinDescription, StateFormat}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful._
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.{JoinType, Routing, Side, Watermarks}
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
    with EventTimeExec {

  override def nodeName: String = "StreamJoin"

  override def shortName: String = JoinDescription.Operator

  override def simpleString(maxFields: Int): String =
    s"StreamJoin ${spec.joinType.name}, ${JoinExplanation.routing(spec)}"

  override protected def explained: Seq[String] = spec.explained

  override def output: Seq[Attribute] = spec.shown

  override def requiredChildDistribution: Seq[Distribution] =
    JoinDistribution.required(
      spec.routing,
      side => spec.equiKeys.map(k => if (side == Side.Left) k.left else k.right),
      side => (if (side == Side.Left) left else right).output,
      getStateInfo.numPartitions
    )

  override def outputPartitioning: Partitioning = spec.joinType match {
    case _ if spec.routing != Routing.ByKey =>
      UnknownPartitioning(getStateInfo.numPartitions)
    // a late row is where its own key is, and has NULL for that of the other input
    case _ if spec.late.nonEmpty && !spec.joinType.leftOnly =>
      UnknownPartitioning(getStateInfo.numPartitions)
    case JoinType.Inner =>
      PartitioningCollection(Seq(left.outputPartitioning, right.outputPartitioning))
    case JoinType.RightOuter => right.outputPartitioning
    case JoinType.FullOuter  => UnknownPartitioning(left.outputPartitioning.numPartitions)
    case _                   => left.outputPartitioning
  }

  // ---- tree ----

  override protected def planned(
      left: SparkPlan,
      right: SparkPlan,
      batch: BatchInfo
  ): StreamJoinExec = new StreamJoinExec(left, right, batch, spec)

  override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, right, batch, spec)

  // ---- state ----

  override protected def description(format: StateFormat): String =
    DescribedJoin.of(spec, format).json

  override protected def storedRows(side: Side): StructType =
    DataTypeUtils.fromAttributes((if (side == Side.Left) left else right).output)

  // ---- watermarks ----

  /** Rows that come out are at most this much older than the slowest watermark below. */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] =
    StreamJoinExec
      .holdBackMs(spec.output, spec.bases, StreamJoinExec.passed(spec))
      .map(inputWatermarkMs - _)

  override protected def bases: Seq[BaseColumn] = spec.bases

  override protected def watermarkCount: Int = spec.bounds.columns.length

  override protected def shownWatermarks(received: Array[Long]): Map[String, Long] =
    shown.of(received) ++ batch.timeMs.fold(Map.empty[String, Long])(shown.delays(received, _))

  private def shown: ShownWatermarks = new ShownWatermarks(spec.times, spec.bounds)

  override protected def figures: OperatorMetrics = StreamJoinExec.Figures

  @transient private lazy val furthest: LargestNumbers =
    registered(new LargestNumbers(JoinExtremes.size(spec)))

  override protected def shownReadings: Map[String, Long] = JoinExtremes.lags(spec)

  override protected def shownExtremes: Map[String, Long] =
    JoinExtremes.metrics(spec, furthest.value)

  @transient private var held: Option[EarliestTimes] = None

  /** Has the tasks tell the earliest times of what they hold; to be asked for before they run. */
  private[physical] def watchHeld(): Unit =
    if (held.isEmpty) held = Some(registered(new EarliestTimes(spec.bounds.columns.length)))

  /** Those times, by column, once all tasks of the batch have run. */
  private[physical] def earliestHeld: Option[Array[Long]] = held.map(_.value)

  // ---- execution ----

  override protected def doExecute(): RDD[InternalRow] = {
    val partitions = getStateInfo.numPartitions
    val distribution = requiredChildDistribution
    val l = JoinInputs.shuffled(left, distribution.head)
    val r = JoinInputs.shuffled(right, distribution.last)
    val arrived = arrivals("aheadRowsLeft" -> l, "aheadRowsRight" -> r)
    val task =
      new JoinTask(spec, left.output, right.output, arrived, partitionState, report, furthest, held)
    perPartition(
      JoinInputs.rows(l, distribution.head, partitions),
      JoinInputs.rows(r, distribution.last, partitions)
    )(task.run)
  }
}

object StreamJoinExec {

  private[physical] val Figures: OperatorMetrics = StreamJoinMetrics.figures

  /**
   * By how much Spark's watermark must be held back behind the join, in milliseconds; none where
   * Spark's watermark says nothing of an event time of the output that Spark knows.
   *
   * @param passed the event times of the output, and how the watermark of each comes about
   *
   * With Spark's watermark at 0 the watermarks of the output follow from those of the source columns
   * as in any batch.
   */
  private[physical] def holdBackMs(
      output: Seq[Attribute],
      bases: Seq[BaseColumn],
      passed: Seq[(Expression, WatermarkPlan)]
  ): Option[Long] = {
    val base = BaseColumn.besideSparks(bases)
    val known = output.filter(_.metadata.contains(EventTimeWatermark.delayKey)).map(_.exprId).toSet
    val lowest = passed.collect {
      case (time, plan) if time.references.exists(a => known(a.exprId)) => plan.eval(base)
    }
    // Spark calls a row at the watermark late, hence a millisecond more
    Option.when(lowest.nonEmpty && !lowest.contains(Watermarks.Unknown))(
      math.floorDiv(-math.min(lowest.min, 0L), 1000L) + 2
    )
  }

  private def passed(spec: StreamJoinSpec): Seq[(Expression, WatermarkPlan)] =
    spec.times.indices.filter(spec.bounds.columns(_).watermarked).map { i =>
      spec.times(i) -> WatermarkPlan.Joined(spec.watermarks, i)
    }
}
