package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.ErrorClassesJsonReader
import org.apache.spark.sql.streamjoin.spark.SparksErrorTable

/** The error conditions of this project: their messages and states. */
private[streamjoin] object StreamJoinConditions {

  private val reader = new ErrorClassesJsonReader(
    Seq(getClass.getClassLoader.getResource("error/streamjoin-error-conditions.json"))
  )

  /** Makes the conditions known to Spark. */
  def register(): Unit = SparksErrorTable.add(reader)

  def message(condition: String, parameters: Map[String, String]): String =
    s"[$condition] ${reader.getErrorMessage(condition, parameters)} SQLSTATE: ${sqlState(condition)}"

  /** What is wrong with a join, and what to write instead, without the class of the error. */
  def reason(condition: String, parameters: Map[String, String]): Seq[String] = {
    val general = reader.errorInfoMap(condition.takeWhile(_ != '.')).messageTemplate
    reader.getErrorMessage(condition, parameters).stripPrefix(general).trim.linesIterator.toSeq
  }

  def template(condition: String): String = reader.getMessageTemplate(condition)

  def sqlState(condition: String): String = reader.getSqlState(condition)
}
