package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{UnresolvedFunction, UnresolvedTableValuedFunction}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_FUNCTION
import org.apache.spark.sql.streamjoin.NearestWord
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.types.DayTimeIntervalType

/**
 * Analyzer rule that refuses functions that belong to other SQL dialects or are misspelt. Spark's
 * own error would not name the cause.
 *
 *  - A table function with a DESCRIPTOR, such as `TUMBLE(TABLE(t), DESCRIPTOR(ts), ...)`. Spark
 *    would report DESCRIPTOR.
 *  - `PROCTIME()`, and a temporal table function, `LATERAL TABLE(rates(o.order_time))`.
 *  - A group window, such as `GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)`, if the session has no
 *    function with this name.
 *
 * Source: Flink SQL, windowing table functions, group windows and temporal joins.
 */
case class RefuseForeignFunctions(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case f: UnresolvedTableValuedFunction if isUnknown(f) => throw unknown(f)
    case node =>
      if (node.expressions.exists(_.containsPattern(UNRESOLVED_FUNCTION)))
        node.expressions.foreach(_.foreach {
          case f: UnresolvedFunction if isGroupWindow(f) =>
            throw ofFlink(f.origin, f.nameParts.head, ForeignWords.WindowInstead)
          case f: UnresolvedFunction if isNone(f, ProcTime) =>
            throw ofFlink(f.origin, s"$ProcTime()", timeOfRow)
          case _ =>
        })
      node.subqueries.foreach(_.foreach {
        case f: UnresolvedTableValuedFunction if isTemporal(f) =>
          throw ofFlink(f.origin, "LATERAL TABLE", versions)
        case _ =>
      })
      node
  }

  private def isUnknown(f: UnresolvedTableValuedFunction): Boolean =
    f.functionArgs.exists(FunctionArguments.isDescriptor) &&
      !known.contains(f.name.last.toLowerCase(Locale.ROOT))

  private def unknown(f: UnresolvedTableValuedFunction) = {
    val name = f.name.mkString(".")
    if (tableWindows(name.toUpperCase(Locale.ROOT)))
      ofFlink(f.origin, name, ForeignWords.WindowInstead)
    else {
      val names = DescribedFunctions.names.map(_.toUpperCase(Locale.ROOT))
      val meant = NearestWord.of(name, names)
      StreamJoinErrors.analysis(
        "UNKNOWN_FUNCTION",
        f.origin,
        "name" -> name,
        "known" -> names.mkString(", "),
        "instead" -> meant.fold("one of these functions")(m => s"$m, which has a similar name")
      )
    }
  }

  private def isGroupWindow(f: UnresolvedFunction): Boolean =
    f.arguments.exists(isInterval) && groupWindows.exists(isNone(f, _))

  /** Whether a function has this name, and the session has no such function. */
  private def isNone(f: UnresolvedFunction, name: String): Boolean =
    f.nameParts.length == 1 && f.nameParts.head.equalsIgnoreCase(name) &&
      !session.sessionState.catalog.functionExists(FunctionIdentifier(name))

  /** Whether `LATERAL TABLE(rates(o.order_time))` calls a temporal table function. */
  private def isTemporal(f: UnresolvedTableValuedFunction): Boolean =
    f.name.map(_.toUpperCase(Locale.ROOT)) == Seq("TABLE") && (f.functionArgs match {
      case Seq(call: UnresolvedFunction) => isNone(call, call.nameParts.last)
      case _                             => false
    })

  private def ofFlink(origin: Origin, words: String, instead: String) =
    StreamJoinErrors.otherDialect(origin, words, "Flink SQL", instead)

  private def isInterval(e: Expression): Boolean = e match {
    case Literal(_, _: DayTimeIntervalType) => true
    case _                                  => false
  }

  private val ProcTime = "PROCTIME"

  private val timeOfRow =
    "the event time of the other input, as in FOR SYSTEM_TIME AS OF o.order_time. For the clock, " +
      "write current_timestamp() in a filter or a column"

  private val versions =
    "JOIN FROM_UPSERTS(TABLE(rates), key => DESCRIPTOR(currency), sequence_by => " +
      "DESCRIPTOR(rate_time)) FOR SYSTEM_TIME AS OF o.order_time AS r ON o.currency = r.currency"

  private val known = DescribedFunctions.names :+ RelationWindows.Name.toLowerCase(Locale.ROOT)

  private val tableWindows = Set("TUMBLE", "HOP", "CUMULATE", "SESSION")

  private val groupWindows =
    for (window <- Set("TUMBLE", "HOP", "SESSION"); part <- Set("", "_START", "_END", "_ROWTIME"))
      yield window + part
}
