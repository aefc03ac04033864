package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors.{analysis, OfTwoTexts}

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

  val missingSequence: OfTwoTexts = (origin, function, instead) =>
    analysis("MISSING_SEQUENCE", origin, "function" -> function, "instead" -> instead)

  val invalidChangelog: OfTwoTexts = (origin, reason, expected) =>
    analysis("INVALID_CHANGELOG", origin, "reason" -> reason, "expected" -> expected)

  val unsupportedChangelog: OfTwoTexts = (origin, reason, instead) =>
    analysis("UNSUPPORTED_CHANGELOG", origin, "reason" -> reason, "instead" -> instead)
}
