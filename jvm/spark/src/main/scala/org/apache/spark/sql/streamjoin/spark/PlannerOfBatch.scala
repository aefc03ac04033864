package org.apache.spark.sql.streamjoin.spark

/**
 * Creates Spark's planner of a micro-batch. Later versions of its constructor have more parameters,
 * which get their defaults.
 */
private[streamjoin] object PlannerOfBatch {

  /**
   * @param known the arguments that all supported versions have, in order
   */
  def of(known: Any*): IncrementalExecution = {
    val constructor = classOf[IncrementalExecution].getConstructors.head
    val companion = Class.forName(s"${classOf[IncrementalExecution].getName}$$")
    val module = companion.getField("MODULE$").get(null)
    val later = (known.length + 1 to constructor.getParameterCount).map { i =>
      companion.getMethod("$lessinit$greater$default$" + i).invoke(module)
    }
    val arguments = known.map(_.asInstanceOf[AnyRef]) ++ later
    constructor.newInstance(arguments: _*).asInstanceOf[IncrementalExecution]
  }
}
