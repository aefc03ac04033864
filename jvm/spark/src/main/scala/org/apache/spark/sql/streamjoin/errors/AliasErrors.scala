package org.apache.spark.sql.streamjoin.errors

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.ExtendedAnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.ColumnNames

/** Replaces Spark's errors about names in a condition by errors that state what to write. */
private[streamjoin] object AliasErrors {

  /** Runs the analysis of a join, and replaces its errors about aliases. */
  def told[T](analysis: => T): T =
    try analysis
    catch {
      case e: AnalysisException if e.getCondition == "AMBIGUOUS_REFERENCE" =>
        throw ambiguous(e)
      case e: ExtendedAnalysisException
          if Option(e.getCondition).exists(_.startsWith(Unresolved)) =>
        throw unknown(e).getOrElse(e)
    }

  private val Unresolved = "UNRESOLVED_COLUMN"

  /**
   * A column that both inputs have, without an alias in front. Spark's error would list the same
   * name twice.
   */
  private def ambiguous(e: AnalysisException) =
    error("AMBIGUOUS_COLUMN", e, "column" -> e.getMessageParameters.get("name").replace("`", ""))

  /**
   * An alias that no input has. Spark would propose columns without an alias, which both inputs may
   * have.
   */
  private def unknown(e: ExtendedAnalysisException): Option[StreamJoinAnalysisException] = for {
    column <- Option(e.getMessageParameters.get("objectName"))
    name = UnresolvedAttribute.parseAttributeName(column)
    if name.length > 1
    columns <- e.plan.collectFirst {
      case j: Join if j.childrenResolved => j.children.flatMap(_.output)
    }
    aliases = columns.flatMap(c => ColumnNames.alias(Seq(c))).distinct
    if !(aliases ++ columns.map(_.name)).exists(_.equalsIgnoreCase(name.head))
  } yield error(
    "UNKNOWN_ALIAS",
    e,
    "column" -> name.mkString("."),
    "alias" -> name.head,
    "aliases" -> (if (aliases.isEmpty) "the inputs have no aliases"
                  else s"there are ${aliases.mkString(", ")}")
  )

  private def error(condition: String, cause: AnalysisException, parameters: (String, String)*) =
    new StreamJoinAnalysisException(
      s"STREAM_JOIN.$condition",
      parameters.toMap,
      Origin(line = cause.line, startPosition = cause.startPosition),
      Some(cause)
    )
}
