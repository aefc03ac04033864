package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.QueryContext
import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.apache.spark.sql.execution.SparkSqlParser

/** Positions in a SQL text, and errors at these positions. */
private[streamjoin] object ParsedText {

  def error(
      text: String,
      at: Origin,
      condition: String,
      parameters: Map[String, String],
      context: Array[QueryContext]
  ): ParseException = new ParseException(Some(text), at, condition, parameters, context)

  /** The position before Spark substituted the values of parameters. */
  def withoutParameters(origin: Origin, position: Int): Int =
    origin.positionMapper.fold(position)(_.mapToOriginal(position))

  /** The origin with the position of another one, which is in a text without parameters. */
  def moved(origin: Origin, there: Origin): Origin = origin.copy(
    line = there.line,
    startPosition = there.startPosition,
    startIndex = there.startIndex,
    stopIndex = there.stopIndex,
    sqlText = there.sqlText,
    positionMapper = None
  )

  /** A parser that edits a text and passes it to another parser. */
  abstract class EditingParser(delegate: ParserInterface) extends SparkSqlParser {

    protected def read[T <: TreeNode[_]](text: String)(parse: String => T): T

    override def parsePlanWithParameters(
        sqlText: String,
        parameterContext: ParameterContext
    ): LogicalPlan = read(sqlText)(delegate.parsePlanWithParameters(_, parameterContext))
  }
}
