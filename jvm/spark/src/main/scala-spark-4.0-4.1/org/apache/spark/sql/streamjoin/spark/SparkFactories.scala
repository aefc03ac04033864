package org.apache.spark.sql.streamjoin.spark

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Partitioning}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}
import org.apache.spark.sql.streaming.{OutputMode, StateOperatorProgress}

/** Creates instances of Spark's classes whose constructors differ between versions. */
private[streamjoin] object SparkFactories {

  def clustered(by: Seq[Expression]): ClusteredDistribution = ClusteredDistribution(by)

  def shuffle(
      partitioning: Partitioning,
      child: SparkPlan,
      origin: ShuffleOrigin
  ): ShuffleExchangeExec = ShuffleExchangeExec(partitioning, child, origin)

  /** The rule as Spark's optimizer has it. */
  def inlineCTE(): InlineCTE = InlineCTE()

  /** The planner of a batch that is not run. */
  def execution(
      session: SparkSession,
      plan: LogicalPlan,
      mode: OutputMode,
      states: String,
      batch: Long,
      metadata: OffsetSeqMetadata
  ): IncrementalExecution = new IncrementalExecution(
    session,
    plan,
    mode,
    states,
    UUID.randomUUID,
    UUID.randomUUID,
    batch,
    None,
    metadata,
    WatermarkPropagator.noop(),
    /* isFirstBatch = */ false
  )

  /**
   * The report of a stateful operator.
   *
   * @param metric returns the value of a metric by its name in the plan
   * @param gauges the names of those custom metrics that are not counters; Spark 4.3 reads them
   */
  def progress(
      operator: String,
      metric: String => Long,
      partitions: Long,
      custom: java.util.Map[String, java.lang.Long],
      gauges: Set[String]
  ): StateOperatorProgress = new StateOperatorProgress(
    operator,
    metric("numTotalStateRows"),
    metric("numUpdatedStateRows"),
    metric("allUpdatesTimeMs"),
    metric("numRemovedStateRows"),
    metric("allRemovalsTimeMs"),
    metric("commitTimeMs"),
    metric("stateMemory"),
    metric("numRowsDroppedByWatermark"),
    partitions,
    metric("numStateStoreInstances"),
    custom
  )
}
