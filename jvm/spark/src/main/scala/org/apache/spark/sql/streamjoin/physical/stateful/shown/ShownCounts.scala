package org.apache.spark.sql.streamjoin.physical.stateful.shown

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates

/**
 * Adds the counts of the tasks to the metrics in Spark's user interface.
 *
 * Each task returns one accumulator with all counts, instead of about thirty accumulators. The sums
 * are the same. As in any metric of Spark's, a partition that runs twice counts twice.
 */
private[stateful] object ShownCounts {

  /**
   * Called on the thread that plans the execution.
   *
   * @param metrics the metrics by the names of the counts
   * @return a function that adds the counts of one task
   */
  def of(context: SparkContext, metrics: Map[String, SQLMetric]): Map[String, Long] => Unit = {
    val execution = Option(context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)).map(_.toLong)
    counts => {
      val added = counts.toSeq.map { case (name, count) => metrics(name) -> count }
      added.foreach { case (metric, count) => metric += count }
      execution.foreach { id =>
        val shown = added.collect { case (m, count) if count != 0 || !isSum(m) => m.id -> count }
        context.listenerBus.post(SparkListenerDriverAccumUpdates(id, shown))
      }
    }
  }

  /**
   * Whether a metric is a plain sum. A count of 0 does not change a sum, but it may be the minimum
   * of a size or a time.
   */
  private def isSum(metric: SQLMetric): Boolean = metric.metricType == "sum"
}
