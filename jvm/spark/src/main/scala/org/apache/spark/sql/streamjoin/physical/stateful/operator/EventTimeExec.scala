package org.apache.spark.sql.streamjoin.physical.stateful.operator

import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.checkpoint.StoredGroupColumns
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{
  BatchReport,
  ExplainedLine,
  GroupMetrics,
  NumberedValues,
  OperatorMetrics,
  PartitionReport,
  ShownCounts
}
import org.apache.spark.sql.streamjoin.physical.stateful.times.StreamJoinInputExec
import org.apache.spark.util.AccumulatorV2

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.{GroupedWatermark, WatermarkPlan}

/**
 * Physical operator that evicts rows by the watermarks of source columns. It reports in EXPLAIN, in
 * Spark's user interface, and in the progress of the query. In the progress, a partition counts
 * once, even if it runs again.
 */
private[streamjoin] trait EventTimeExec extends StatefulBinaryExec with CheckpointedState {

  /** The source columns from which its watermarks are computed. */
  private[streamjoin] def bases: Seq[BaseColumn]

  /** How the watermarks of its event times follow from those of the source columns. */
  private[streamjoin] def watermarkPlans: Seq[WatermarkPlan]

  final override private[streamjoin] def baseSources: Seq[Set[Int]] = {
    val nodes = inputs.flatMap { case (_, input) => StreamJoinInputExec.of(input) }
    val orders = nodes.zip(nodes.scanLeft(0)(_ + _.sources.length)).flatMap { case (node, first) =>
      node.orders.map(o => o.id -> o.sources.map(first + _))
    }
    // a stream that is read twice has one order twice
    bases.zipWithIndex.map {
      case (b: BaseColumn.Imposed, i) =>
        def isOf(other: BaseColumn) = other match {
          case o: BaseColumn.Imposed => o.id == b.id
          case _                     => false
        }
        orders.filter(_._1 == b.id).lift(bases.take(i).count(isOf)).fold(Set.empty[Int])(_._2)
      case _ => Set.empty
    }
  }

  /**
   * Whether another batch could evict rows: Spark's watermark has advanced, or an input has become
   * idle.
   */
  final override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean = {
    val propagated = bases.exists(_.isInstanceOf[BaseColumn.Propagated]) &&
      batch.watermarkForEviction.exists(newInputWatermark > _)
    propagated || longMetric("numTotalStateRows").value > 0 && BaseWatermarks.turnsIdle(
      bases,
      BatchReport.largest(reported.map(_.lastActiveMs), bases.length),
      groups.fold(Map.empty[Int, GroupedWatermark])(_.value),
      batch.timeMs,
      System.currentTimeMillis()
    )
  }

  /** The inputs with the shuffles that they require. */
  protected def shuffled: Seq[SparkPlan]

  @transient override private[physical] final lazy val read: Seq[SparkPlan] = shuffled

  /**
   * The arrivals of the batch, for the tasks of the operator.
   *
   * @param aheadNames for each input, the name of the metric for its rows that are too far ahead
   */
  protected final def arrivals(aheadNames: String*): StageInputWatermarks = {
    val plans = read
    val (context, bases, batch) = (sparkContext, this.bases, this.batch)
    val maxGroups = conf.getConf(StreamJoinConf.MaxWatermarkGroups)
    val ahead = aheadNames.map(longMetric).zip(plans)
    val execution = context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    new StageInputWatermarks(() =>
      Option.when(JoinInputs.areRead(plans)) {
        ahead.foreach { case (metric, input) => metric.set(JoinInputs.ahead(input)) }
        SQLMetrics.postDriverMetricUpdates(context, execution, ahead.map(_._1))
        BatchArrivals.of(bases, JoinInputs.arrivals(plans), batch, maxGroups)
      }
    )
  }

  // ---- reports ----

  /** The lines of the operator in EXPLAIN. */
  protected def explained: Seq[String]

  protected def figures: OperatorMetrics

  /** The number of watermarks that a batch reports. */
  protected def watermarkCount: Int

  /** The watermarks in the progress, by name. */
  protected def shownWatermarks(received: Array[Long]): Map[String, Long]

  /** The display name of each source column that is an event time of the operator. */
  protected def shownBases: Map[Int, String]

  /** The display name of a source column that is an event time, in the description. */
  protected def describedBase(source: Int): Option[String]

  /** The source columns with groups. */
  private def grouped: Seq[(Int, BaseColumn.Imposed)] = bases.zipWithIndex.collect {
    case (b: BaseColumn.Imposed, i) if b.per.nonEmpty => i -> b
  }

  final override protected def groupColumns: Seq[StoredGroupColumns] = grouped.map { case (i, b) =>
    StoredGroupColumns(i, b.name, describedBase(i), b.per, b.idleTimeoutMs)
  }

  private def shownGroups: Map[String, Long] = (for {
    (i, base) <- grouped
    name <- shownBases.get(i).toSeq
    watermark <- groups.flatMap(_.value.get(i)).toSeq
    metric <- GroupMetrics.of(name, base, watermark, batch.timeMs)
  } yield metric).toMap

  /** Further gauges, by name. */
  protected def shownReadings: Map[String, Long] = Map.empty

  /** Further metrics of the batch that are not sums over partitions, by name. */
  protected def shownExtremes: Map[String, Long] = Map.empty

  override def innerChildren: Seq[QueryPlan[_]] = explained.map(ExplainedLine(_))

  final override def verboseStringWithOperatorId(): String =
    s"\n$formattedNodeName\n${(simpleString(0) +: explained).mkString("\n")}\n"

  final override lazy val metrics: Map[String, SQLMetric] =
    figures.create(sparkContext) ++ furtherMetrics

  /** Metrics that only Spark's user interface shows. */
  protected def furtherMetrics: Map[String, SQLMetric] = Map.empty

  /** The groups at the end of the batch, if a source column has groups. */
  @transient private lazy val groups: Option[NumberedValues[GroupedWatermark]] =
    Option.when(grouped.nonEmpty) {
      val sparks = for {
        (i, base) <- grouped
        order <- JoinInputs.orders(read) if order.orderId == base.id
        spark <- order.sparks
      } yield (i, base.lag, spark)
      registered(new NumberedValues[GroupedWatermark](watermarks =>
        for ((i, lag, spark) <- sparks; now <- watermarks.get(i).map(_.column))
          if (now != Watermarks.Unknown) spark.advance(Saturated.add(now, lag))
      ))
    }

  @transient private lazy val ofPartitions: NumberedValues[PartitionReport] = {
    val show = ShownCounts.of(sparkContext, metrics)
    registered(new NumberedValues(_.values.foreach(report => show(report.counts))))
  }

  private def reported: Iterable[PartitionReport] = ofPartitions.value.values

  protected final def registered[A <: AccumulatorV2[_, _]](accumulator: A): A = {
    sparkContext.register(accumulator)
    accumulator
  }

  /** The accumulators to which the tasks of this batch report. */
  protected final def report: BatchReport =
    new BatchReport(longMetric("numOutputRows"), ofPartitions, groups)

  override def getProgress(): StateOperatorProgress = {
    val counts = BatchReport.sum(reported.map(_.counts))
    val received = BatchReport.largest(reported.map(_.watermarks), watermarkCount)
    figures.progress(
      shortName,
      name => counts.getOrElse(name, longMetric(name).value),
      shownWatermarks(received) ++ shownGroups ++ shownReadings,
      shownExtremes,
      getStateInfo.numPartitions
    )
  }
}
