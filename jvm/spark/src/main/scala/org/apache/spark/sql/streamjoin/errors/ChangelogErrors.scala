package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors.analysis

/** Errors about changelogs and changelog joins. */
private[streamjoin] object ChangelogErrors {

  /** A function on all columns, written without the columns that describe a change. */
  val NamedColumns = "df.na.fill(value, subset=[...])"

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
           "unchanged, and give a column that is computed from it another name. In df.na and in " +
             s"casts, name the columns, as $NamedColumns"
         else "in each select below")
    )

  def missingSequence(
      origin: Origin,
      function: String,
      instead: String
  ): StreamJoinAnalysisException =
    analysis("MISSING_SEQUENCE", origin, "function" -> function, "instead" -> instead)

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
}
