package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

/** Physical operator that evicts rows by the watermarks of source columns. */
private[physical] trait EventTimeExec extends ReportingExec with ReadsInputs {

  /** The source columns from which its watermarks are computed. */
  protected def bases: Seq[BaseColumn]

  final override protected def sourceCount: Int = bases.length

  /**
   * Whether another batch could evict rows: Spark's watermark has advanced, or an input has become
   * idle.
   */
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

  @transient private var inputs: Option[Seq[SparkPlan]] = None

  override final def read: Seq[SparkPlan] = inputs.getOrElse(children)

  /**
   * The arrivals of the batch, for the tasks of the operator.
   *
   * @param inputs the inputs as executed, each with the name of the metric for its rows that are
   *   too far ahead
   */
  protected final def arrivals(inputs: (String, SparkPlan)*): StageInputWatermarks = {
    val plans = inputs.map(_._2)
    this.inputs = Some(plans)
    val (context, bases, batch) = (sparkContext, this.bases, this.batch)
    val ahead = inputs.map { case (name, input) => longMetric(name) -> input }
    val execution = context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    new StageInputWatermarks(() =>
      Option.when(JoinInputs.areRead(plans)) {
        ahead.foreach { case (metric, input) => metric.set(JoinInputs.ahead(input)) }
        SQLMetrics.postDriverMetricUpdates(context, execution, ahead.map(_._1))
        BatchArrivals.of(bases, plans, batch)
      }
    )
  }
}
