package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.And
import org.apache.spark.sql.catalyst.plans.logical.{AsOfJoin, Join, JoinHint, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.catalyst.trees.TreePattern.AS_OF_JOIN
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.LastRows

/**
 * Analyzer rule that replaces Spark's as-of join by this project's, if both inputs are streams.
 * Spark 4.3 parses `ASOF JOIN` itself if a setting enables it, and executes it if the right input is
 * a table. With the hint `STREAM_JOIN`, `AsOfWords` rewrites the join before Spark parses it.
 */
object ReplaceAsOfJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(AS_OF_JOIN)) {
      case j: AsOfJoin
          if j.childrenResolved && j.children.forall(_.isStreaming) && isMatched(j) =>
        CurrentOrigin.withOrigin(j.origin)(replaced(j))
    }

  /** Whether Spark has resolved the match condition. */
  private def isMatched(j: AsOfJoin): Boolean = j.resolved &&
    j.children.forall(_.outputSet.intersect(j.asOfCondition.references).nonEmpty)

  private def replaced(j: AsOfJoin): Join = {
    // columns above the join are resolved already, among them the row kind
    if (ChangelogMarks.areChanges(j.right)) {
      throw StreamJoinErrors.unsupportedAsOf(
        j.origin,
        "the right input of Spark's ASOF JOIN is a changelog",
        "Write the hint STREAM_JOIN behind SELECT: SELECT /*+ STREAM_JOIN */ o.id, r.rate FROM orders " +
          "AS o ASOF JOIN rates AS r MATCH_CONDITION (o.time >= r.time) ON o.currency = r.currency"
      )
    }
    Join(
      j.left,
      LastRows(1, j.right, LastRows.AsOf(pending = None)),
      j.joinType,
      (j.condition ++ Seq(j.asOfCondition)).reduceOption(And),
      JoinHint.NONE
    )
  }
}
