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

  @transient private var inputs: Option[Seq[SparkPlan]] = None

  /** The inputs as they are run: what its tasks read from. */
  private[stateful] final def read: Seq[SparkPlan] = inputs.getOrElse(children)

  /**
   * What the batch brings, for the tasks of the operator.
   *
   * @param inputs as they are run, with the metric that counts the rows of each that were too far ahead
   */
  protected final def arrivals(inputs: (String, SparkPlan)*): AwaitedArrivals = {
    val plans = inputs.map(_._2)
    this.inputs = Some(plans)
    val (context, bases, batch) = (sparkContext, this.bases, this.batch)
    val ahead = inputs.map { case (name, input) => longMetric(name) -> input }
    val execution = context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    new AwaitedArrivals(() =>
      Option.when(JoinInputs.areRead(plans)) {
        ahead.foreach { case (metric, input) => metric.set(JoinInputs.ahead(input)) }
        SQLMetrics.postDriverMetricUpdates(context, execution, ahead.map(_._1))
        BatchArrivals.of(bases, plans, batch)
      }
    )
  }
}
