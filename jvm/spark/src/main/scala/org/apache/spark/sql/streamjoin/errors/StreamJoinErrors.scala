package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.types.DataType

/**
 * Errors about event-time joins, orders and their options. The texts are in
 * `streamjoin-error-conditions.json`.
 */
private[streamjoin] object StreamJoinErrors {

  private[errors] def analysis(subClass: String, origin: Origin, parameters: (String, String)*) =
    new StreamJoinAnalysisException(s"STREAM_JOIN.$subClass", parameters.toMap, origin)

  def missingWatermark(
      origin: Origin,
      side: String,
      columns: Seq[String],
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "MISSING_WATERMARK",
      origin,
      "side" -> side,
      "columns" -> columns.mkString(", "),
      "instead" -> instead
    )

  def unboundedState(
      origin: Origin,
      side: String,
      condition: Expression,
      leftTimes: Seq[String],
      rightTimes: Seq[String],
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "UNBOUNDED_STATE",
      origin,
      "side" -> side,
      "condition" -> ColumnNames.sql(condition),
      "leftTimes" -> leftTimes.mkString(", "),
      "rightTimes" -> rightTimes.mkString(", "),
      "instead" -> instead
    )

  def disjunctiveBound(
      origin: Origin,
      side: String,
      expression: Expression,
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "DISJUNCTIVE_BOUND",
      origin,
      "side" -> side,
      "expression" -> ColumnNames.sql(expression),
      "instead" -> instead
    )

  def nonConstantBound(
      origin: Origin,
      side: String,
      expression: Expression,
      reason: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "NON_CONSTANT_BOUND",
      origin,
      "side" -> side,
      "expression" -> ColumnNames.sql(expression),
      "reason" -> reason,
      "instead" -> instead
    )

  /**
   * @param types types of the two operands, in the order in which they are written
   */
  def timeTypeMismatch(
      origin: Origin,
      expression: Expression,
      types: (DataType, DataType),
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "TIME_TYPE_MISMATCH",
      origin,
      "expression" -> ColumnNames.sql(expression),
      "left" -> types._1.sql,
      "right" -> types._2.sql,
      "instead" -> instead
    )

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

  /** @param effect what follows for the expression, as `does not bound ...` */
  def calendarInterval(
      origin: Origin,
      expression: String,
      effect: String
  ): StreamJoinAnalysisException =
    analysis("CALENDAR_INTERVAL", origin, "expression" -> expression, "effect" -> effect)

  def staticInput(origin: Origin, side: String, columns: Seq[String]): StreamJoinAnalysisException =
    analysis("STATIC_INPUT", origin, "side" -> side, "columns" -> columns.mkString(", "))

  def unsupportedJoinType(origin: Origin, joinType: String): StreamJoinAnalysisException =
    analysis("UNSUPPORTED_JOIN_TYPE", origin, "joinType" -> joinType)

  def unsupportedTimeType(
      origin: Origin,
      column: String,
      dataType: DataType,
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "UNSUPPORTED_TIME_TYPE",
      origin,
      "column" -> column,
      "type" -> dataType.sql,
      "instead" -> instead
    )

  def invalidColumn(
      origin: Origin,
      column: String,
      reason: String,
      columns: Seq[String],
      instead: String
  ): StreamJoinAnalysisException =
    analysis(
      "INVALID_COLUMN",
      origin,
      "column" -> column,
      "reason" -> reason,
      "columns" -> columns.mkString(", "),
      "instead" -> instead
    )

  def invalidLag(
      origin: Origin,
      parameter: String,
      value: String,
      column: String,
      dataType: DataType,
      reason: String,
      expected: String
  ): StreamJoinAnalysisException =
    analysis(
      "INVALID_LAG",
      origin,
      "parameter" -> parameter,
      "value" -> value,
      "column" -> column,
      "type" -> dataType.sql,
      "reason" -> reason,
      "expected" -> expected
    )

  def negativeLag(
      origin: Origin,
      parameter: String,
      value: String,
      column: String
  ): StreamJoinAnalysisException =
    analysis("NEGATIVE_LAG", origin, "parameter" -> parameter, "value" -> value, "column" -> column)

  /**
   * @param options all valid options
   * @param example some options by name, with values as in SQL
   */
  def invalidOption(
      origin: Origin,
      reason: String,
      options: String,
      example: Seq[(String, String)]
  ): StreamJoinAnalysisException =
    analysis(
      "INVALID_OPTION",
      origin,
      "reason" -> reason,
      "options" -> options,
      "sql" -> example.map { case (name, value) => s"$name => $value" }.mkString(", "),
      "keywords" -> example.map {
        case ("match", _)  => "how=\"asof\""
        case (name, value) => s"$name=${value.replace('\'', '"')}"
      }.mkString(", ")
    )

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
   * @param meant the known function with the most similar name, if one is similar
   */
  def unknownFunction(
      origin: Origin,
      name: String,
      known: Seq[String],
      meant: Option[String]
  ): StreamJoinAnalysisException =
    analysis(
      "UNKNOWN_FUNCTION",
      origin,
      "name" -> name,
      "known" -> known.mkString(", "),
      "instead" -> meant.fold("one of these functions")(m => s"$m, which has a similar name")
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

  def invalidRowtime(
      origin: Origin,
      name: String,
      columns: Seq[String]
  ): StreamJoinAnalysisException = {
    val found = if (columns.isEmpty) "none" else columns.mkString(", ")
    analysis("INVALID_ROWTIME", origin, "name" -> name, "columns" -> found)
  }

  def unsupportedSubquery(
      origin: Origin,
      reason: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis("UNSUPPORTED_SUBQUERY", origin, "reason" -> reason, "instead" -> instead)

  def sharedExpression(
      origin: Origin,
      name: String,
      expression: String
  ): StreamJoinAnalysisException =
    analysis("SHARED_EXPRESSION", origin, "name" -> name, "expression" -> expression)

  def lateColumnExists(
      origin: Origin,
      column: Attribute,
      columns: Seq[Attribute]
  ): StreamJoinAnalysisException =
    analysis(
      "LATE_COLUMN_EXISTS",
      origin,
      "column" -> ColumnNames.of(column),
      "columns" -> columns.map(ColumnNames.of).mkString(", ")
    )

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

  def secondWatermark(
      origin: Origin,
      column: String,
      columns: Seq[String]
  ): StreamJoinAnalysisException =
    analysis(
      "SECOND_WATERMARK",
      origin,
      "column" -> column,
      "columns" -> (if (columns.isEmpty) "none that is selected here" else columns.mkString(", "))
    )

  def unsupportedOutputMode(
      origin: Origin,
      side: String,
      columns: Seq[Attribute],
      mode: String
  ): StreamJoinAnalysisException =
    analysis(
      "UNSUPPORTED_OUTPUT_MODE",
      origin,
      "side" -> side,
      "columns" -> columns.map(ColumnNames.of).mkString(", "),
      "mode" -> mode
    )

  def unsupportedOrder(
      origin: Origin,
      reason: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis("UNSUPPORTED_ORDER", origin, "reason" -> reason, "instead" -> instead)

  def unsupportedAsOf(
      origin: Origin,
      reason: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis("UNSUPPORTED_AS_OF", origin, "reason" -> reason, "instead" -> instead)
}
