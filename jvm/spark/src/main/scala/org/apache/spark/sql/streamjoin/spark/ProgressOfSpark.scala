package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.streaming.StateOperatorProgress

/**
 * Creates Spark's progress report of an operator. The constructor in Spark 4.3 has another
 * parameter: the names of those metrics that are gauges, not counters of a batch.
 */
private[streamjoin] object ProgressOfSpark {

  private val constructor = classOf[StateOperatorProgress].getConstructors.head

  /**
   * @param values numbers of the report, in the order of the constructor
   * @param metrics the operator's own metrics
   * @param readings names of the gauges among `metrics`
   */
  def of(
      operator: String,
      values: Seq[Long],
      metrics: java.util.Map[String, java.lang.Long],
      readings: Set[String]
  ): StateOperatorProgress = {
    val known: Seq[AnyRef] = Seq[AnyRef](operator) ++ values.map(Long.box) ++ Seq[AnyRef](metrics)
    val arguments = if (constructor.getParameterCount > known.length) known :+ readings else known
    constructor.newInstance(arguments: _*).asInstanceOf[StateOperatorProgress]
  }
}
