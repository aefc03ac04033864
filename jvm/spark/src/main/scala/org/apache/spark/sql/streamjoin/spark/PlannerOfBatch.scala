package org.apache.spark.sql.streamjoin.spark

/**
 * Creates Spark's planner of a micro-batch. Its constructor has more parameters in later versions;
 * those get their defaults.
 */
private[streamjoin] object PlannerOfBatch {

  /** @param known the arguments that every supported version takes, in order */
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
