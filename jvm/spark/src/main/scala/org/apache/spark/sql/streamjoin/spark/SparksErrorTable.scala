package org.apache.spark.sql.streamjoin.spark

import scala.util.control.NonFatal

import org.apache.spark.{ErrorClassesJsonReader, SparkThrowableHelper}
import org.apache.spark.internal.Logging

/**
 * Makes error conditions known to Spark's own table of them.
 *
 * PySpark does not ask an exception for its text but looks the condition up there; what it does not
 * find comes out as an internal error in place of the message. There is no hook to add conditions,
 * hence the reflection. Where it fails, everything but `getMessage()` in Python still works.
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
