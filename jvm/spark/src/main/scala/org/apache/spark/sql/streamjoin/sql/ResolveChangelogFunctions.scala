package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedTableValuedFunction}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.UnresolvedChangelog

/**
 * Resolves the table functions that declare a changelog:
 *
 * {{{
 *   FROM_CHANGELOG(TABLE(t) [, key [, op [, op_mapping [, sequence_by]]]])
 *   FROM_UPSERTS(TABLE(t), key, sequence_by [, deletes])
 *   FROM_DEBEZIUM(TABLE(t), key [, value [, sequence_by]])
 * }}}
 *
 * Arguments are given by position or by name. Columns are given as `DESCRIPTOR(a, b)`, or a single
 * one as a string. Spark's grammar parses the call as a table function, which this rule replaces.
 *
 * Source: Flink SQL, `FROM_CHANGELOG` (FLIP-564).
 */
object ResolveChangelogFunctions extends Rule[LogicalPlan] {

  private val arguments: Map[String, Seq[String]] = Map(
    "from_changelog" -> Seq("input", "key", "op", "op_mapping", "sequence_by"),
    "from_upserts" -> Seq("input", "key", "sequence_by", "deletes"),
    "from_debezium" -> Seq("input", "key", "value", "sequence_by")
  )

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case f: UnresolvedTableValuedFunction
        if f.name.length == 1 && arguments.contains(f.name.head.toLowerCase(Locale.ROOT)) =>
      changelog(f, f.name.head.toLowerCase(Locale.ROOT))
  }

  private def changelog(f: UnresolvedTableValuedFunction, function: String): LogicalPlan = {
    val name = function.toUpperCase(Locale.ROOT)
    def refused(reason: String) =
      ChangelogErrors.invalidChangelog(
        f.origin,
        s"$name: $reason",
        s"$name(TABLE(t), key => DESCRIPTOR(id)), with ${arguments(function).mkString(", ")}"
      )
    val passed = FunctionArguments.of(f, arguments(function))(refused)
    val child = passed.get("input") match {
      case Some(TableArgument(plan)) => plan
      case _                         => throw refused("the first argument must be TABLE(...)")
    }
    val named = (passed - "input" - "op_mapping" - "deletes").map { case (n, e) =>
      val found = FunctionArguments.columns(e).getOrElse(
        throw refused(
          s"the argument $n must be DESCRIPTOR(column), or the name of a column as a string"
        )
      )
      n -> found.map(parts =>
        if (n == "sequence_by") parts.mkString(".") else single(parts, refused)
      )
    }
    UnresolvedChangelog(function, named, passed.get("op_mapping"), passed.get("deletes"), child)
  }

  private def single(parts: Seq[String], refused: String => Throwable): String =
    if (parts.length == 1) parts.head
    else throw refused(s"${UnresolvedAttribute(parts).name} is not a top-level column of the input")
}
