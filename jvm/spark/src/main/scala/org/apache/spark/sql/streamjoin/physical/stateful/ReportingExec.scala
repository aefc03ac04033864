package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.util.AccumulatorV2

/**
 * Stateful operator with reports: in EXPLAIN, in Spark's user interface, and in the progress of the
 * query. In the progress, a partition counts once, even if it runs again.
 */
private[physical] trait ReportingExec extends StatefulBinaryExec with CheckpointedState {

  /** The lines of the operator in EXPLAIN. */
  protected def explained: Seq[String]

  protected def figures: OperatorMetrics

  /** The number of watermarks that a batch reports. */
  protected def watermarkCount: Int = 0

  /** The number of sources that may become idle. */
  protected def sourceCount: Int = 0

  /** The watermarks in the progress, by name. */
  protected def shownWatermarks(received: Array[Long]): Map[String, Long] = Map.empty

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

  @transient private lazy val received: ExtremeNumbers =
    registered(new ExtremeNumbers(watermarkCount))

  @transient private lazy val lastActive: ExtremeNumbers =
    registered(new ExtremeNumbers(sourceCount))

  @transient private lazy val ofPartitions: PartitionCounts =
    registered(new PartitionCounts(ShownCounts.of(sparkContext, metrics)))

  protected final def registered[A <: AccumulatorV2[_, _]](accumulator: A): A = {
    sparkContext.register(accumulator)
    accumulator
  }

  /**
   * The time at which each source last had a row, in milliseconds, from the tasks that have ended.
   */
  protected final def lastActiveMs: Array[Long] = lastActive.value

  /** The accumulators to which the tasks of this batch report. */
  protected final def report: BatchReport =
    new BatchReport(longMetric("numOutputRows"), ofPartitions, received, lastActive)

  override def getProgress(): StateOperatorProgress = {
    val counts = ofPartitions.value
    figures.progress(
      shortName,
      name => counts.getOrElse(name, longMetric(name).value),
      shownWatermarks(received.value) ++ shownReadings,
      shownExtremes,
      getStateInfo.numPartitions
    )
  }
}
