package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.ErrorClassesJsonReader
import org.apache.spark.sql.streamjoin.spark.SparksErrorTable

/** The error conditions of this project, with their messages and SQLSTATEs. */
private[streamjoin] object StreamJoinConditions {

  private val reader = new ErrorClassesJsonReader(
    Seq(getClass.getClassLoader.getResource("error/streamjoin-error-conditions.json"))
  )

  /** Registers the conditions with Spark. */
  def register(): Unit = SparksErrorTable.add(reader)

  def message(condition: String, parameters: Map[String, String]): String =
    s"[$condition] ${reader.getErrorMessage(condition, parameters)} SQLSTATE: ${sqlState(condition)}"

  /** The reason for a refusal, and what to write instead, without the error class. */
  def reason(condition: String, parameters: Map[String, String]): Seq[String] = {
    val general = reader.errorInfoMap(condition.takeWhile(_ != '.')).messageTemplate
    reader.getErrorMessage(condition, parameters).stripPrefix(general).trim.linesIterator.toSeq
  }

  def template(condition: String): String = reader.getMessageTemplate(condition)

  def sqlState(condition: String): String = reader.getSqlState(condition)
}
