package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec
import org.apache.spark.sql.internal.SQLConf

/** The stream of a source, and its offsets at the end of a micro-batch. */
private[streamjoin] object SourceOffsets {

  def unapply(plan: SparkPlan): Option[(MicroBatchStream, Offset)] = plan match {
    case s: MicroBatchScanExec => Some(s.stream -> s.end)
    case _                     => None
  }
}

/** Plans of a trigger in real-time mode, which this version of Spark lacks or has without joins. */
private[streamjoin] object RealTimeMode {

  val isSupported: Boolean = false

  /** The duration of the batch that a plan is for, in milliseconds; none: a micro-batch. */
  def durationMs(plan: SparkPlan): Option[Long] =
    Option.when(plan.exists(_.getClass.getSimpleName == "RealTimeStreamScanExec"))(0L)

  def checksOperators(conf: SQLConf): Boolean = true

  def check(plan: SparkPlan): Unit = ()

  def exchange(child: SparkPlan, partition: Attribute, partitions: Int): SparkPlan = child
}
