package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.streaming.StateOperatorProgress

/**
 * Makes Spark's progress report of an operator, whose constructor is another one in Spark 4.3: there
 * it is also told which metrics are readings, that stay, rather than counts of a batch.
 */
private[streamjoin] object ProgressOfSpark {

  private val constructor = classOf[StateOperatorProgress].getConstructors.head

  /**
   * @param values the numbers of the report, in the order of the constructor
   * @param metrics the operator's own metrics
   * @param readings those of `metrics` that are readings
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
