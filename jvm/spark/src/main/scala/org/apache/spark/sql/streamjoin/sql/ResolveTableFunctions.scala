package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedAttribute,
  UnresolvedSubqueryColumnAliases,
  UnresolvedTVFAliases,
  UnresolvedTableValuedFunction
}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.errors.{ChangelogErrors, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  LastRows,
  RelationWindow,
  UnresolvedChangelog,
  UnresolvedImposeOrder
}
import org.apache.spark.sql.types.StringType

/**
 * Resolves the syntax of this project that Spark's grammar parses as table functions:
 *
 * {{{
 *   IMPOSE_ORDER(TABLE(t), DESCRIPTOR(c), lag [, idle_timeout [, max_ahead [, ahead [, per]]]])
 *   FROM_CHANGELOG(TABLE(t) [, key [, op [, op_mapping [, sequence_by]]]])
 *   FROM_UPSERTS(TABLE(t), key, sequence_by [, deletes])
 *   FROM_DEBEZIUM(TABLE(t), key [, value [, sequence_by]])
 *   STREAM_WINDOW(TABLE(t), INTERVAL '10' MINUTE, 'FOLLOWING')
 * }}}
 *
 * Arguments are given by position or, except in STREAM_WINDOW, by name. Columns are given as
 * `DESCRIPTOR(a, b)`, or a single one as a string. [[RelationWindows]] writes STREAM_WINDOW for a
 * window on a relation, and the text of a view contains it.
 *
 * Sources: Hazelcast SQL, `IMPOSE_ORDER`; Flink SQL, `FROM_CHANGELOG` (FLIP-564).
 */
object ResolveTableFunctions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case UnresolvedTVFAliases(_, f @ Called(Window), columns) =>
      val w = window(f)
      // the window stays at the root, where the join expects it
      w.withNewChildren(Seq(UnresolvedSubqueryColumnAliases(columns, w.children.head)))
    case f @ Called(Window)                                      => window(f)
    case f @ Called("impose_order")                              => order(f)
    case f @ Called(function) if ofChangelogs.contains(function) => changelog(f, function)
  }

  private val Window = RelationWindows.Name.toLowerCase(Locale.ROOT)

  /** Matches a function by its name, in lower case. A name with a qualifier is another function. */
  private object Called {
    def unapply(f: UnresolvedTableValuedFunction): Option[String] =
      Option.when(f.name.length == 1)(f.name.head.toLowerCase(Locale.ROOT))
  }

  // ---- orders ----

  private val ofOrder =
    Seq("input", "column", "lag", "idle_timeout", "max_ahead", "ahead", "per")

  private def order(f: UnresolvedTableValuedFunction): LogicalPlan = {
    def refused(reason: String) = StreamJoinErrors.wrongUse(f.origin, reason)
    val arguments = FunctionArguments.of(f, ofOrder)(refused)
    val child = arguments.get("input").flatMap(TableArgument.unapply).getOrElse(
      throw refused(
        "the first argument must be TABLE(...), STREAM(...) or a query in parentheses. Pass " +
          "the result of another function as TABLE(SELECT * FROM ...)"
      )
    )
    val column = arguments.get("column").flatMap(FunctionArguments.columns) match {
      case Some(Seq(one)) => one
      case _ => throw refused("the second argument must be DESCRIPTOR(column), with one column")
    }
    UnresolvedImposeOrder(
      column,
      arguments.getOrElse("lag", throw refused("the third argument, the lag, is missing")),
      arguments.get("idle_timeout"),
      arguments.get("max_ahead"),
      arguments.get("ahead"),
      arguments.get("per").fold(Seq.empty[Seq[String]])(
        FunctionArguments.columns(_).getOrElse(
          throw refused("the argument per must be DESCRIPTOR(columns), such as the partition")
        )
      ),
      child
    )
  }

  // ---- changelogs ----

  private val ofChangelogs: Map[String, Seq[String]] = Map(
    "from_changelog" -> Seq("input", "key", "op", "op_mapping", "sequence_by"),
    "from_upserts" -> Seq("input", "key", "sequence_by", "deletes"),
    "from_debezium" -> Seq("input", "key", "value", "sequence_by")
  )

  private def changelog(f: UnresolvedTableValuedFunction, function: String): LogicalPlan = {
    val (name, names) = (function.toUpperCase(Locale.ROOT), ofChangelogs(function))
    def refused(reason: String) =
      ChangelogErrors.invalidChangelog(
        f.origin,
        s"$name: $reason",
        s"$name(TABLE(t), key => DESCRIPTOR(id)), with ${names.mkString(", ")}"
      )
    val passed = FunctionArguments.of(f, names)(refused)
    val child = passed.get("input").flatMap(TableArgument.unapply)
      .getOrElse(throw refused("the first argument must be TABLE(...)"))
    def single(parts: Seq[String]) =
      if (parts.length == 1) parts.head
      else
        throw refused(s"${UnresolvedAttribute(parts).name} is not a top-level column of the input")
    val columns = (passed - "input" - "op_mapping" - "deletes").map { case (n, e) =>
      val found = FunctionArguments.columns(e).getOrElse(
        throw refused(
          s"the argument $n must be DESCRIPTOR(column), or the name of a column as a string"
        )
      )
      n -> found.map(parts => if (n == "sequence_by") parts.mkString(".") else single(parts))
    }
    UnresolvedChangelog(function, columns, passed.get("op_mapping"), passed.get("deletes"), child)
  }

  // ---- windows ----

  /**
   * A second interval and direction make it the window BETWEEN the two. A number and
   * `'ROWS PRECEDING'` select the last rows of the relation. A column of the other input and
   * `'SYSTEM_TIME'` select the last row at that time. A condition and `'ASOF'` select the last row
   * that satisfies it.
   */
  private def window(f: UnresolvedTableValuedFunction): LogicalPlan = f.functionArgs match {
    case Seq(TableArgument(plan), count, Literal(d, StringType))
        if d.toString.equalsIgnoreCase(RelationWindows.LastRows) =>
      count match {
        case Literal(n: Int, _) if n > 0 => LastRows(n, plan)
        case _ =>
          throw StreamJoinErrors.invalidWindow(
            f.origin,
            s"OVER (ROWS ${count.sql} PRECEDING)",
            s"${count.sql} is not a whole number above 0",
            ofRows = true
          )
      }
    case Seq(TableArgument(plan), time: UnresolvedAttribute, Literal(d, StringType))
        if d.toString.equalsIgnoreCase(RelationWindows.TimeOfRow) =>
      LastRows(1, plan, LastRows.TimeOfRow(time.nameParts))
    case Seq(TableArgument(plan), condition, Literal(d, StringType))
        if d.toString.equalsIgnoreCase(AsOfWords.Name) =>
      LastRows(1, plan, LastRows.AsOf(Some(condition).filter(_ != Literal.TrueLiteral)))
    case Seq(TableArgument(plan), bounds @ _*) if bounds.length == 2 || bounds.length == 4 =>
      val (lengths, directions) = bounds.grouped(2).map(b => (b.head, b.last)).toSeq.unzip
      RelationWindow(lengths, directions.map(preceding(f, _)), plan)
    case _ =>
      throw wrong(
        f,
        "its arguments must be TABLE(...), and one or two pairs of an interval and a direction"
      )
  }

  private def preceding(f: UnresolvedTableValuedFunction, direction: Expression): Boolean =
    direction match {
      case Literal(d, StringType) if d.toString.equalsIgnoreCase("PRECEDING") => true
      case Literal(d, StringType) if d.toString.equalsIgnoreCase("FOLLOWING") => false
      case _ => throw wrong(f, "its direction must be 'PRECEDING' or 'FOLLOWING'")
    }

  private def wrong(f: UnresolvedTableValuedFunction, reason: String) =
    StreamJoinErrors.invalidWindow(f.origin, f.name.mkString("."), reason)
}
