package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions.{Attribute, DirectShufflePartitionID}
import org.apache.spark.sql.catalyst.plans.physical.ShufflePartitionIdPassThrough
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.{MicroBatchScanExec, RealTimeStreamScanExec}
import org.apache.spark.sql.execution.exchange.{REPARTITION_BY_NUM, ShuffleExchangeExec}
import org.apache.spark.sql.execution.streaming.runtime.RealTimeModeAllowlist
import org.apache.spark.sql.internal.SQLConf

/**
 * The stream of a source, and its offsets at the end of a micro-batch, or at the start of a batch in
 * real-time mode.
 */
private[streamjoin] object SourceOffsets {

  def unapply(plan: SparkPlan): Option[(MicroBatchStream, Offset)] = plan match {
    case s: MicroBatchScanExec     => Some(s.stream -> s.end)
    case s: RealTimeStreamScanExec => Some(s.stream -> s.start)
    case _                         => None
  }
}

/** Plans of a trigger in real-time mode. */
private[streamjoin] object RealTimeMode {

  /** Whether rows pass through an exchange while the batch runs, which Spark 4.3 introduces. */
  val isSupported: Boolean =
    classOf[ShuffleExchangeExec].getMethods.exists(_.getName == "pipelined")

  /** The duration of the batch that a plan is for, in milliseconds; none: a micro-batch. */
  def durationMs(plan: SparkPlan): Option[Long] =
    plan.collectFirst { case s: RealTimeStreamScanExec => s.batchDurationMs }

  /** The setting without which Spark refuses operators that are not its own. */
  def checksOperators(conf: SQLConf): Boolean =
    conf.getConf(SQLConf.STREAMING_REAL_TIME_MODE_ALLOWLIST_CHECK)

  /** Throws Spark's error if Spark does not support an operator of the plan. */
  def check(plan: SparkPlan): Unit =
    RealTimeModeAllowlist.checkAllowedPhysicalOperator(plan, throwException = true)

  /** An exchange of rows that contain the number of their partition. */
  def exchange(child: SparkPlan, partition: Attribute, partitions: Int): SparkPlan =
    SparkFactories.shuffle(
      ShufflePartitionIdPassThrough(DirectShufflePartitionID(partition), partitions),
      child,
      REPARTITION_BY_NUM
    )
}
