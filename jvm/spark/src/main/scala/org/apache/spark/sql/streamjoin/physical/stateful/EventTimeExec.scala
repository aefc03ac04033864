package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

/** A stateful operator whose rows go by the watermarks of source columns. */
private[physical] trait EventTimeExec extends ReportingExec {

  /** The source columns that its watermarks follow from. */
  protected def bases: Seq[BaseColumn]

  final override protected def sourceCount: Int = bases.length

  /** Whether Spark's watermark, or an input that has turned idle, can free what is held. */
  final override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean = {
    val propagated = bases.exists(_.isInstanceOf[BaseColumn.Propagated]) &&
      batch.watermarkForEviction.exists(newInputWatermark > _)
    propagated || longMetric("numTotalStateRows").value > 0 && BaseWatermarks.turnsIdle(
      bases,
      lastActiveMs,
      batch.timeMs,
      System.currentTimeMillis()
    )
  }

  /**
   * What the batch has brought: runs the inputs up to their shuffles.
   *
   * @param inputs with the metric that counts the rows of each that were too far ahead
   */
  protected final def arrivals(inputs: (String, SparkPlan)*): BatchArrivals = {
    val plans = inputs.map(_._2)
    JoinInputs.materialize(plans)
    val ahead = inputs.map { case (name, input) =>
      val metric = longMetric(name)
      metric.set(JoinInputs.ahead(input))
      metric
    }
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, ahead)
    BatchArrivals.of(bases, plans, batch)
  }
}
