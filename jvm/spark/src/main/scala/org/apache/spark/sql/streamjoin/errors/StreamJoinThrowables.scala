package org.apache.spark.sql.streamjoin.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.QueryContext
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.spark.MessageTemplate

/** A join, or an order, that is refused when the query is analysed. */
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

  /** What is wrong, and what to write instead: a line each, without the class of the error. */
  def reason: Seq[String] = StreamJoinConditions.reason(condition, parameters)
}

/** A failure while a query runs. */
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
