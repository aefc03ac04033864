package org.apache.spark.sql.streamjoin.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.{ErrorClassesJsonReader, QueryContext}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.spark.{MessageTemplate, SparksErrorTable}

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

/** Refusal of a join or an order in the analysis of a query. */
class StreamJoinAnalysisException(
    condition: String,
    parameters: Map[String, String],
    origin: Origin,
    cause: Option[Throwable] = None
) extends AnalysisException(
      message = StreamJoinConditions.message(condition, parameters),
      line = origin.line,
      startPosition = origin.startPosition,
      cause = cause,
      errorClass = Some(condition),
      messageParameters = parameters,
      context = origin.getQueryContext
    )
    with MessageTemplate {

  override def getSqlState: String = StreamJoinConditions.sqlState(condition)

  protected override def template: String = StreamJoinConditions.template(condition)

  /** The reason, and what to write instead: one line each, without the error class. */
  def reason: Seq[String] = StreamJoinConditions.reason(condition, parameters)
}

/** Failure of a running query. */
class StreamJoinRuntimeException(
    condition: String,
    parameters: Map[String, String],
    cause: Throwable = null
) extends RuntimeException(StreamJoinConditions.message(condition, parameters), cause)
    with MessageTemplate {

  override def getCondition: String = condition

  override def getSqlState: String = StreamJoinConditions.sqlState(condition)

  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava

  override def getQueryContext: Array[QueryContext] = Array.empty

  protected override def template: String = StreamJoinConditions.template(condition)
}
