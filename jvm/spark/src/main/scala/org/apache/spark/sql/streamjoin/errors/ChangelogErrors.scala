package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors.analysis

/** Errors about changelogs and changelog joins. */
private[streamjoin] object ChangelogErrors {

  def undeclaredChangelog(
      origin: Origin,
      side: String,
      column: String
  ): StreamJoinAnalysisException =
    analysis("UNDECLARED_CHANGELOG", origin, "side" -> side, "column" -> column)

  /**
   * @param columns columns of the plan. One may have the name of the change-kind column by accident
   */
  def changeTypeDropped(
      origin: Origin,
      where: String,
      columns: Seq[String]
  ): StreamJoinAnalysisException =
    analysis(
      "CHANGE_TYPE_DROPPED",
      origin,
      "where" -> where,
      "columns" -> columns.mkString(", "),
      "how" ->
        (if (columns.exists(_.equalsIgnoreCase("_change_type")))
           "unchanged, and give a column that is computed from it another name"
         else "in each select below")
    )

  def missingSequence(
      origin: Origin,
      function: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis("MISSING_SEQUENCE", origin, "function" -> function, "instead" -> instead)

  def nondeterministicChange(
      origin: Origin,
      side: String,
      expression: Expression
  ): StreamJoinAnalysisException =
    analysis(
      "NONDETERMINISTIC_CHANGE",
      origin,
      "side" -> side,
      "expression" -> ColumnNames.sql(expression)
    )

  def invalidStateTtl(origin: Origin, value: String, reason: String): StreamJoinAnalysisException =
    analysis("INVALID_STATE_TTL", origin, "value" -> value, "reason" -> reason)

  def invalidChangelog(
      origin: Origin,
      reason: String,
      expected: String
  ): StreamJoinAnalysisException =
    analysis("INVALID_CHANGELOG", origin, "reason" -> reason, "expected" -> expected)

  def unsupportedChangelog(
      origin: Origin,
      reason: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis("UNSUPPORTED_CHANGELOG", origin, "reason" -> reason, "instead" -> instead)

  /**
   * Shows a value in the message only if it has one character, such as Debezium's `t`. Otherwise it
   * shows the length: a column that was named by mistake may contain anything.
   *
   * @param word the value; none for NULL
   */
  def unknownChangeType(
      column: String,
      word: Option[String],
      known: Seq[String],
      instead: String
  ): StreamJoinRuntimeException =
    new StreamJoinRuntimeException(
      "STREAM_JOIN.UNKNOWN_CHANGE_TYPE",
      Map(
        "column" -> column,
        "value" -> word.fold("NULL") { w =>
          if (w.length == 1) s"'$w'" else s"a value of ${w.length} characters"
        },
        "known" -> known.sorted.mkString(", "),
        "instead" -> instead
      )
    )

  /**
   * @param input display name of the input
   */
  def nullKey(input: String, key: Seq[String]): StreamJoinRuntimeException =
    new StreamJoinRuntimeException(
      "STREAM_JOIN.NULL_KEY",
      Map("input" -> input, "key" -> key.mkString(", "))
    )
}
