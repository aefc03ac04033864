package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.util.AccumulatorV2

/**
 * A stateful operator that tells the same of a batch however often its partitions are run: in EXPLAIN, in
 * Spark's user interface, in the query's progress.
 */
private[physical] trait ReportingExec extends StatefulBinaryExec with CheckpointedState {

  /** What EXPLAIN tells of the operator, line by line. */
  protected def explained: Seq[String]

  protected def figures: OperatorMetrics

  /** How many watermarks a batch receives. */
  protected def watermarkCount: Int = 0

  /** How many sources may turn idle. */
  protected def sourceCount: Int = 0

  /** The watermarks as the progress shows them. */
  protected def shownWatermarks(received: Array[Long]): Map[String, Long] = Map.empty

  /** What else stays as it is from batch to batch, by name. */
  protected def shownReadings: Map[String, Long] = Map.empty

  /** What else the batch did that is no sum over partitions, by name. */
  protected def shownExtremes: Map[String, Long] = Map.empty

  override def innerChildren: Seq[QueryPlan[_]] = explained.map(ExplainedLine(_))

  final override def verboseStringWithOperatorId(): String =
    s"\n$formattedNodeName\n${(simpleString(0) +: explained).mkString("\n")}\n"

  final override lazy val metrics: Map[String, SQLMetric] =
    figures.create(sparkContext) ++ furtherMetrics

  /** Those of Spark's user interface alone. */
  protected def furtherMetrics: Map[String, SQLMetric] = Map.empty

  @transient private lazy val received: LargestNumbers =
    registered(new LargestNumbers(watermarkCount))

  @transient private lazy val lastActive: LargestNumbers =
    registered(new LargestNumbers(sourceCount))

  @transient private lazy val ofPartitions: PartitionCounts =
    registered(new PartitionCounts(ShownCounts.of(sparkContext, metrics)))

  protected final def registered[A <: AccumulatorV2[_, _]](accumulator: A): A = {
    sparkContext.register(accumulator)
    accumulator
  }

  /** When each source last brought a row, in milliseconds, as the batch knows by now. */
  protected final def lastActiveMs: Array[Long] = lastActive.value

  /** What the tasks of this batch report to. */
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
