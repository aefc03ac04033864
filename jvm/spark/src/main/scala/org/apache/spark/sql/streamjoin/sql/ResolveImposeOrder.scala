package org.apache.spark.sql.streamjoin.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.UnresolvedImposeOrder

/**
 * Resolves `IMPOSE_ORDER(TABLE(t), DESCRIPTOR(c), lag [, idle_timeout [, max_ahead [, ahead]]])`.
 *
 * Arguments are given in this order, or by the names `input`, `column`, `lag`, `idle_timeout`,
 * `max_ahead`, `ahead`. The column may also be a string. Spark's grammar parses the call as a table
 * function, which this rule replaces.
 *
 * Source: Hazelcast SQL, `IMPOSE_ORDER`.
 */
object ResolveImposeOrder extends Rule[LogicalPlan] {

  private val names = Seq("input", "column", "lag", "idle_timeout", "max_ahead", "ahead")

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case f: UnresolvedTableValuedFunction if isImposeOrder(f.name) => order(f)
  }

  private def isImposeOrder(name: Seq[String]): Boolean =
    name.length == 1 && name.head.toLowerCase(Locale.ROOT) == "impose_order"

  private def order(f: UnresolvedTableValuedFunction): LogicalPlan = {
    val arguments =
      FunctionArguments.of(f, names)(StreamJoinErrors.wrongUse(f.origin, _))
    val child = arguments.get("input") match {
      case Some(TableArgument(plan)) => plan
      case _ =>
        throw StreamJoinErrors.wrongUse(
          f.origin,
          "the first argument must be TABLE(...), STREAM(...) or a query in parentheses. Pass " +
            "the result of another function as TABLE(SELECT * FROM ...)"
        )
    }
    val column = arguments.get("column").flatMap(FunctionArguments.columns) match {
      case Some(Seq(one)) => one
      case _ =>
        throw StreamJoinErrors.wrongUse(
          f.origin,
          "the second argument must be DESCRIPTOR(column), with one column"
        )
    }
    val lag = arguments.getOrElse(
      "lag",
      throw StreamJoinErrors.wrongUse(f.origin, "the third argument, the lag, is missing")
    )
    UnresolvedImposeOrder(
      column,
      lag,
      arguments.get("idle_timeout"),
      arguments.get("max_ahead"),
      arguments.get("ahead"),
      child
    )
  }
}
