package org.apache.spark.sql.streamjoin.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.QueryContext
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.spark.MessageTemplate

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
