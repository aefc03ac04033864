package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.expressions.{
  CurrentCatalog,
  CurrentDatabase,
  CurrentUser,
  Expression,
  OuterReference,
  PythonFuncExpression,
  SessionWindow,
  SubqueryExpression,
  TimeWindow
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.Origin
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
  ): Option[StreamJoinAnalysisException] =
    condition.collectFirst {
      case s: SubqueryExpression =>
        StreamJoinErrors.unsupportedCondition(
          join.origin,
          s,
          "a sub-query",
          "Join the table of the sub-query with an input below this join, or filter an input by " +
            "it. Write a single value as a constant"
        )
      case u: PythonFuncExpression
          if !join.children.exists(c => u.references.subsetOf(c.outputSet)) =>
        StreamJoinErrors.unsupportedCondition(
          join.origin,
          u,
          "a Python function of columns of both inputs",
          "Use SQL functions, or filter the output of an inner join by this function"
        )
      case o: OuterReference =>
        StreamJoinErrors.unsupportedCondition(
          join.origin,
          o,
          "a column of the outer query",
          "Write the comparison in WHERE of the sub-query"
        )
      case s if isOfSession(s) =>
        StreamJoinErrors.unsupportedCondition(
          join.origin,
          s,
          "a value of the session",
          "Write the value as a constant"
        )
      case t if t.children.isEmpty && t.containsPattern(CURRENT_LIKE) =>
        StreamJoinErrors.unsupportedCondition(
          join.origin,
          t,
          "the current time",
          "Filter the output of an inner join by this expression"
        )
      case e if !e.deterministic && e.children.forall(_.deterministic) =>
        StreamJoinErrors.unsupportedCondition(
          join.origin,
          e,
          "an expression that is not deterministic",
          "Compute it as a column of one input, or filter the output of an inner join by it"
        )
    }

  /**
   * Refuses a window expression in a condition. Spark supports it in projections only, and leaves
   * the join unresolved.
   */
  def checkWindows(condition: Expression, origin: Origin): Unit = condition.foreach {
    case w @ (_: TimeWindow | _: SessionWindow) =>
      throw StreamJoinErrors.unsupportedCondition(
        origin,
        w,
        "a computed time window",
        "Compute the window as a column of each input, as in window(order_time, '1 hour') AS w, " +
          "and compare these columns"
      )
    case _ =>
  }

  private def isOfSession(e: Expression): Boolean = e match {
    case _: CurrentUser | _: CurrentDatabase | _: CurrentCatalog => true
    case _                                                       => false
  }

  private def ofWatermark(join: StreamJoin, side: Side): Option[StreamJoinAnalysisException] =
    Option.when(join.timesOf(side).isEmpty)(
      MissingWatermark.refusal(join.origin, side, join.left, join.right, Some(join.condition))
    )
}
