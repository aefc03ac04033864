package org.apache.spark.sql.streamjoin.spark

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Partitioning}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadataBase
import org.apache.spark.sql.streaming.{OutputMode, StateOperatorProgress}

/**
 * Creates instances of Spark's classes whose constructors differ between versions.
 *
 * This jar runs on Spark 4.2 and 4.3. The constructors of 4.3 have further parameters, so a call that
 * is compiled for 4.2 does not link. The calls are by reflection, and the further parameters get
 * their defaults.
 */
private[streamjoin] object SparkFactories {

  def clustered(by: Seq[Expression]): ClusteredDistribution =
    make(classOf[ClusteredDistribution], by, false, None)

  def shuffle(
      partitioning: Partitioning,
      child: SparkPlan,
      origin: ShuffleOrigin
  ): ShuffleExchangeExec = make(classOf[ShuffleExchangeExec], partitioning, child, origin, None)

  /** The rule as Spark's optimizer has it. */
  def inlineCTE(): InlineCTE = make(classOf[InlineCTE], false, false)

  /** The planner of a batch that is not run. */
  def execution(
      session: SparkSession,
      plan: LogicalPlan,
      mode: OutputMode,
      states: String,
      batch: Long,
      metadata: OffsetSeqMetadataBase
  ): IncrementalExecution = make(
    classOf[IncrementalExecution],
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
  ): StateOperatorProgress = make(
    classOf[StateOperatorProgress],
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
    custom,
    gauges
  )

  /** @param arguments the first arguments; one that the version does not have is dropped */
  private def make[T](of: Class[T], arguments: Any*): T = {
    val constructor = of.getConstructors.head
    val count = constructor.getParameterCount
    def default(i: Int): Any = {
      val companion = Class.forName(s"${of.getName}$$")
      companion
        .getMethod("$lessinit$greater$default$" + (i + 1))
        .invoke(companion.getField("MODULE$").get(null))
    }
    val all = arguments.take(count) ++ (arguments.length until count).map(default)
    of.cast(constructor.newInstance(all.map(_.asInstanceOf[AnyRef]): _*))
  }
}
