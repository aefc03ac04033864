package org.apache.spark.sql.streamjoin.spark

/**
 * Creates Spark's case classes by reflection. Later versions have more parameters, so a constructor
 * call compiled for one version does not link with another. All these parameters are flags, and
 * false by default.
 */
private[streamjoin] object SparkCaseClass {

  /**
   * @param known the arguments that all supported versions have, in order
   */
  def make[T](of: Class[T], known: AnyRef*): T = {
    val constructor = of.getConstructors.head
    val later = Seq.fill(constructor.getParameterCount - known.length)(Boolean.box(false))
    of.cast(constructor.newInstance(known ++ later: _*))
  }
}
