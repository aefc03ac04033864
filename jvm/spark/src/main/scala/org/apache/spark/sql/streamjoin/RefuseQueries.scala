package org.apache.spark.sql.streamjoin

import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Analyzer rule that refuses queries with hints or functions of this extension, if the jar does not
 * run on the session's version of Spark. Spark ignores unknown hints, so the query would silently
 * have another meaning.
 */
final case class RefuseQueries(problem: String) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.exists(isOurs)) throw new IllegalStateException(problem) else plan

  private def isOurs(node: LogicalPlan): Boolean = node match {
    case h: UnresolvedHint => RefuseQueries.Hints.contains(h.name.toUpperCase)
    case f: UnresolvedTableValuedFunction =>
      RefuseQueries.Functions.contains(f.name.last.toUpperCase)
    case _ => false
  }
}

object RefuseQueries {
  private val Hints = Set("STREAM_JOIN", "IMPOSE_ORDER")
  private val Functions = Set("IMPOSE_ORDER", "FROM_CHANGELOG", "FROM_UPSERTS", "FROM_DEBEZIUM")
}
