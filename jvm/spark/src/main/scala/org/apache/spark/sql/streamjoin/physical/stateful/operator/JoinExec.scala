package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{
  Partitioning,
  PartitioningCollection,
  UnknownPartitioning
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{DisplayNames, Figure}
import org.apache.spark.sql.streamjoin.physical.stateful.times.JoinTimes

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.watermark.WatermarkPlan

/** Physical operator of a join that evicts rows by watermarks of columns of both inputs. */
private[physical] trait JoinExec extends EventTimeExec {

  /** The specification of the join for its tasks. */
  def spec: Product

  protected def joinTimes: JoinTimes

  final override def shortName: String = JoinDescription.Operator

  override protected def arguments: IndexedSeq[Any] = IndexedSeq(left, right, batch, spec)

  final override private[streamjoin] def bases: Seq[BaseColumn] = joinTimes.bases

  final override private[streamjoin] def watermarkPlans: Seq[WatermarkPlan] =
    joinTimes.watermarks.inputs

  protected final def bounds: JoinBounds = joinTimes.bounds

  /** The inputs with the columns that the join reads. */
  protected def input: BySide[SparkPlan] = BySide(left, right)

  final override protected def watermarkCount: Int = bounds.columns.length

  final override protected def shownWatermarks(received: Array[Long]): Map[String, Long] =
    joinTimes.shown(received, clockMs)

  /** The time with which a report compares the watermarks. */
  protected def clockMs: Option[Long] = batch.timeMs

  final override protected def shownBases: Map[Int, String] = joinTimes.shownBases

  final override protected def describedBase(source: Int): Option[String] =
    joinTimes.ofSource.collectFirst { case (`source`, column) => bounds.columns(column).name }

  /** The alias of an input, for an input whose event times have no qualifier. */
  protected def alias(side: Side): Option[String] = None

  protected def emitsUnmatchedOnly: Boolean = false

  /** Spark's report has numbers only. The display names are recorded for the messages about it. */
  override def getProgress(): StateOperatorProgress = {
    DisplayNames.remember(getStateInfo) {
      DisplayNames(
        BySide.of(side => DisplayNames.input(bounds, side)(alias(side))),
        joinTimes.names.map { case (shown, column) => shown -> bounds.columns(column).name }.toMap,
        emitsUnmatchedOnly
      )
    }
    super.getProgress()
  }

  final override protected def inputs: Seq[(String, SparkPlan)] =
    Side.both.map(side => side.name -> input(side))

  override protected def storedColumns(side: Side): Seq[Attribute] = input(side).output

  override protected def shuffled: Seq[SparkPlan] =
    JoinInputs.shuffled(left, right, requiredChildDistribution)

  /** Runs a task in each partition, once the shuffles of both inputs are written. */
  protected final def joined(
      task: (Int, BatchArrivals) => PartitionTask
  ): RDD[InternalRow] = {
    val arrived = arrivals(Side.both.map(Figure.Ahead.of(_).name): _*)
    val (partitions, emitted) = (getStateInfo.numPartitions, report.emitted)
    val inputs = read.zip(requiredChildDistribution).map { case (input, distribution) =>
      JoinInputs.rows(input, distribution, partitions)
    }
    perPartition(inputs.head, inputs.last) { (partition, left, right) =>
      val own = task(partition, arrived())
      own.output(own.arrive(left, right), emitted)
    }
  }

  /** The partitioning of an output whose rows are in the partition of their key. */
  protected final def partitionedAs(joinType: JoinType): Partitioning =
    joinType.always.map(input(_).outputPartitioning) match {
      case Nil      => UnknownPartitioning(left.outputPartitioning.numPartitions)
      case Seq(one) => one
      case both     => PartitioningCollection(both)
    }
}
