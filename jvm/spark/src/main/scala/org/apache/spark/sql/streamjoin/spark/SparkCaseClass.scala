package org.apache.spark.sql.streamjoin.spark

/**
 * Makes case classes of Spark's of which a later version has more parameters, all of them switches
 * that are off by default: their constructors of one version do not link with another.
 */
private[streamjoin] object SparkCaseClass {

  /** @param known the arguments that every supported version takes, in order */
  def make[T](of: Class[T], known: AnyRef*): T = {
    val constructor = of.getConstructors.head
    val later = Seq.fill(constructor.getParameterCount - known.length)(Boolean.box(false))
    of.cast(constructor.newInstance(known ++ later: _*))
  }
}
