package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.expressions.{
  CurrentCatalog,
  CurrentDatabase,
  CurrentUser,
  Expression,
  OuterReference,
  PythonFuncExpression,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal

import io.streamjoin.model.Side

/** Refuses joins whose state is not provably bounded, with the condition that would bound it. */
private[streamjoin] object JoinRefusals {

  /** The refusal of a join; none: it can run. */
  def of(join: StreamJoin): Option[Refusal] =
    ofCondition(join, join.condition)
      .orElse(Side.both.flatMap(ofWatermark(join, _)).headOption)
      .map(Refusal(_))
      .orElse(UnboundedJoin.refusal(join))

  /** Refuses expressions that cannot be evaluated on the two rows of a pair alone. */
  def ofCondition(
      join: LogicalPlan,
      condition: Expression
  ): Option[StreamJoinAnalysisException] = {
    def refused(e: Expression, what: String, instead: String) =
      StreamJoinErrors.unsupportedCondition(join.origin, e, what, instead)
    condition.collectFirst {
      case s: SubqueryExpression =>
        refused(
          s,
          "a sub-query",
          "Join the table of the sub-query with an input below this join, or filter an input by " +
            "it. Write a single value as a constant"
        )
      case u: PythonFuncExpression
          if !join.children.exists(c => u.references.subsetOf(c.outputSet)) =>
        refused(
          u,
          "a Python function of columns of both inputs",
          "Use SQL functions, or filter the output of an inner join by this function"
        )
      case o: OuterReference =>
        refused(o, "a column of the outer query", "Write the comparison in WHERE of the sub-query")
      case s @ (_: CurrentUser | _: CurrentDatabase | _: CurrentCatalog) =>
        refused(s, "a value of the session", "Write the value as a constant")
      case t if t.children.isEmpty && t.containsPattern(CURRENT_LIKE) =>
        refused(t, "the current time", "Filter the output of an inner join by this expression")
      case e if !e.deterministic && e.children.forall(_.deterministic) =>
        refused(
          e,
          "an expression that is not deterministic",
          "Compute it as a column of one input, or filter the output of an inner join by it"
        )
    }
  }

  private def ofWatermark(join: StreamJoin, side: Side): Option[StreamJoinAnalysisException] =
    Option.when(join.timesOf(side).isEmpty)(
      MissingWatermark.refusal(join.origin, side, join.left, join.right, Some(join.condition))
    )
}
