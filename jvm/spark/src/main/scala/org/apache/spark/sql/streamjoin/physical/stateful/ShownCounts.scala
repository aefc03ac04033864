package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates

/**
 * Shows in Spark's user interface what tasks have counted, with the same sums as if each count were an accumulator of
 * their own. They bring back one with all of them; there are some thirty.
 *
 * A partition that is run twice counts twice there.
 */
private[stateful] object ShownCounts {

  /**
   * On the thread that plans the execution.
   *
   * @param metrics by the names of the counts
   * @return is told the counts of a task
   */
  def of(context: SparkContext, metrics: Map[String, SQLMetric]): Map[String, Long] => Unit = {
    val execution = Option(context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)).map(_.toLong)
    counts => {
      val told = counts.toSeq.map { case (name, count) => metrics(name) -> count }
      told.foreach { case (metric, count) => metric += count }
      execution.foreach { id =>
        val shown = told.collect { case (m, count) if count != 0 || !isSum(m) => m.id -> count }
        context.listenerBus.post(SparkListenerDriverAccumUpdates(id, shown))
      }
    }
  }

  /** A sum of nothing is not shown; a size or time has a least value, too. */
  private def isSum(metric: SQLMetric): Boolean = metric.metricType == "sum"
}
