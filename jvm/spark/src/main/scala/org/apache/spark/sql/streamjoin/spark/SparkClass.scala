package org.apache.spark.sql.streamjoin.spark

/**
 * Creates instances of Spark's classes by reflection. Later versions have more parameters, so a
 * constructor call compiled for one version does not link with another.
 */
private[streamjoin] object SparkClass {

  /**
   * @param arguments the arguments in order. Missing ones get their defaults, and those that this
   *   version does not have are ignored.
   */
  def make[T](of: Class[T], arguments: Any*): T = {
    val constructor = of.getConstructors.head
    val count = constructor.getParameterCount
    def default(i: Int): Any = {
      val companion = Class.forName(s"${of.getName}$$")
      companion
        .getMethod("$lessinit$greater$default$" + (i + 1))
        .invoke(companion.getField("MODULE$").get(null))
    }
    val all = arguments.take(count) ++ (arguments.length until count).map(default)
    of.cast(constructor.newInstance(all.map(_.asInstanceOf[AnyRef]): _*))
  }
}
