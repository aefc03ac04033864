package org.apache.spark.sql.streamjoin.errors

import scala.util.control.NonFatal

import org.apache.spark.{ErrorClassesJsonReader, SparkThrowableHelper}
import org.apache.spark.internal.Logging

/** The error conditions of this project: their messages and states. */
private[streamjoin] object StreamJoinConditions extends Logging {

  private val reader = new ErrorClassesJsonReader(
    Seq(getClass.getClassLoader.getResource("error/streamjoin-error-conditions.json"))
  )

  /**
   * Makes the conditions known to Spark's own reader.
   *
   * PySpark does not ask an exception for its text but looks the condition up there; what it does not
   * find comes out as an internal error in place of the message. There is no hook to add conditions,
   * hence the reflection. Where it fails, everything but `getMessage()` in Python still works.
   */
  def register(): Unit =
    try {
      val spark = SparkThrowableHelper.errorReader
      if (!reader.errorInfoMap.keySet.subsetOf(spark.errorInfoMap.keySet)) {
        val field = classOf[ErrorClassesJsonReader].getDeclaredField("errorInfoMap")
        field.setAccessible(true)
        field.set(spark, spark.errorInfoMap ++ reader.errorInfoMap)
      }
    } catch {
      case NonFatal(e) => logWarning("Spark does not know the conditions of streamjoin", e)
    }

  def message(condition: String, parameters: Map[String, String]): String =
    SparkThrowableHelper.formatErrorMessage(
      condition,
      reader.getErrorMessage(condition, parameters),
      sqlState(condition),
      context = ""
    )

  /** What is wrong with a join, and what to write instead, without the class of the error. */
  def reason(condition: String, parameters: Map[String, String]): Seq[String] = {
    val general = reader.errorInfoMap(condition.takeWhile(_ != '.')).messageTemplate
    reader.getErrorMessage(condition, parameters).stripPrefix(general).trim.linesIterator.toSeq
  }

  def template(condition: String): String = reader.getMessageTemplate(condition)

  def sqlState(condition: String): String = reader.getSqlState(condition)
}
