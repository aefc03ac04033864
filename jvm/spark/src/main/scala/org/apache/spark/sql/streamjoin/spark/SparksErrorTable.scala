package org.apache.spark.sql.streamjoin.spark

import scala.util.control.NonFatal

import org.apache.spark.{ErrorClassesJsonReader, SparkThrowableHelper}
import org.apache.spark.internal.Logging

/**
 * Adds error conditions to Spark's own table.
 *
 * PySpark looks up the text of an exception in this table. A condition that is not there becomes an
 * internal error without its message. Spark has no hook to add conditions, so this object uses
 * reflection. If that fails, only `getMessage()` in Python is affected.
 */
private[streamjoin] object SparksErrorTable extends Logging {

  def add(conditions: ErrorClassesJsonReader): Unit =
    try {
      val spark = SparkThrowableHelper.errorReader
      if (!conditions.errorInfoMap.keySet.subsetOf(spark.errorInfoMap.keySet)) {
        val field = classOf[ErrorClassesJsonReader].getDeclaredField("errorInfoMap")
        field.setAccessible(true)
        field.set(spark, spark.errorInfoMap ++ conditions.errorInfoMap)
      }
    } catch {
      case NonFatal(e) => logWarning("Spark does not know the conditions of streamjoin", e)
    }
}
