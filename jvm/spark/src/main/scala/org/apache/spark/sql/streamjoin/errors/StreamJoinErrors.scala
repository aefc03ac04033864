package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.ColumnNames

/**
 * Errors about event-time joins, orders and their options. The texts and the names of their
 * parameters are in `streamjoin-error-conditions.json`. An error of one place is made there, with
 * `analysis` or `runtime`.
 */
private[streamjoin] object StreamJoinErrors {

  def analysis(
      subClass: String,
      origin: Origin,
      parameters: (String, String)*
  ): StreamJoinAnalysisException =
    new StreamJoinAnalysisException(s"STREAM_JOIN.$subClass", parameters.toMap, origin)

  def runtime(subClass: String, parameters: (String, String)*): StreamJoinRuntimeException =
    new StreamJoinRuntimeException(s"STREAM_JOIN.$subClass", parameters.toMap)

  def unsupportedCondition(
      origin: Origin,
      expression: Expression,
      what: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "UNSUPPORTED_CONDITION",
      origin,
      "expression" -> ColumnNames.sql(expression),
      "what" -> what,
      "instead" -> instead
    )

  /** Makes an error from its place in the query and two texts. */
  type OfTwoTexts = (Origin, String, String) => StreamJoinAnalysisException

  /** The effect is what follows for the expression, as `does not bound ...`. */
  val calendarInterval: OfTwoTexts = (origin, expression, effect) =>
    analysis("CALENDAR_INTERVAL", origin, "expression" -> expression, "effect" -> effect)

  val unsupportedSubquery: OfTwoTexts = (origin, reason, instead) =>
    analysis("UNSUPPORTED_SUBQUERY", origin, "reason" -> reason, "instead" -> instead)

  val unsupportedOrder: OfTwoTexts = (origin, reason, instead) =>
    analysis("UNSUPPORTED_ORDER", origin, "reason" -> reason, "instead" -> instead)

  val unsupportedAsOf: OfTwoTexts = (origin, reason, instead) =>
    analysis("UNSUPPORTED_AS_OF", origin, "reason" -> reason, "instead" -> instead)

  def staticInput(origin: Origin, side: String, columns: Seq[String]): StreamJoinAnalysisException =
    analysis("STATIC_INPUT", origin, "side" -> side, "columns" -> columns.mkString(", "))

  def unsupportedJoinType(origin: Origin, joinType: String): StreamJoinAnalysisException =
    analysis("UNSUPPORTED_JOIN_TYPE", origin, "joinType" -> joinType)

  def wrongUse(origin: Origin, reason: String): StreamJoinAnalysisException =
    analysis("INVALID_IMPOSE_ORDER", origin, "reason" -> reason)

  /**
   * @param words syntax of the other SQL dialect
   * @param system the system with this dialect
   * @param instead what to write in Spark SQL
   */
  def otherDialect(
      origin: Origin,
      words: String,
      system: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "OTHER_DIALECT",
      origin,
      "words" -> words,
      "system" -> system,
      "instead" -> instead
    )

  /**
   * @param ofRows whether the window is a number of rows
   */
  def invalidWindow(
      origin: Origin,
      window: String,
      reason: String,
      ofRows: Boolean = false
  ): StreamJoinAnalysisException = {
    val instead =
      if (ofRows)
        "Write JOIN t OVER (ROWS 1 PRECEDING) AS t ON ..., for the latest row of t by event time"
      else
        "Write JOIN t OVER (RANGE INTERVAL '10' MINUTE FOLLOWING) AS t ON ..., or PRECEDING, or " +
          "compare the event times in ON"
    analysis("INVALID_WINDOW", origin, "window" -> window, "reason" -> reason, "instead" -> instead)
  }

  def lateRowsBelow(
      origin: Origin,
      side: String,
      columns: Seq[Attribute]
  ): StreamJoinAnalysisException =
    analysis(
      "LATE_ROWS_BELOW",
      origin,
      "side" -> side,
      "columns" -> columns.map(ColumnNames.of).mkString(", ")
    )
}
