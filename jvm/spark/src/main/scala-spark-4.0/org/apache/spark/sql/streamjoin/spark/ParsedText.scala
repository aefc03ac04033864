package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.QueryContext
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
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
  ): ParseException = new ParseException(Some(text), at, at, condition, parameters, context)

  /** The position itself: this version of Spark binds parameters after parsing. */
  def withoutParameters(origin: Origin, position: Int): Int = position

  /** The origin with the position of another one. */
  def moved(origin: Origin, there: Origin): Origin = origin.copy(
    line = there.line,
    startPosition = there.startPosition,
    startIndex = there.startIndex,
    stopIndex = there.stopIndex,
    sqlText = there.sqlText
  )

  /** A parser that edits a text and passes it to another parser. */
  abstract class EditingParser(delegate: ParserInterface) extends SparkSqlParser {

    protected def read[T <: TreeNode[_]](text: String)(parse: String => T): T
  }
}
