package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{AliasHelper, Expression, PipeOperator}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoinHint

/**
 * Extractor of nodes between a filter and an inner join below it whose conditions may be moved into
 * the join. Of an outer join, conditions may be moved to the preserved input.
 */
private[logical] object PassesConditions extends AliasHelper {

  /**
   * Returns three values:
   *
   * - the input;
   * - a function that rewrites a condition on the output as one on the input, for conditions that
   *   reference no other input;
   * - a function that replaces the input.
   */
  def unapply(
      plan: LogicalPlan
  ): Option[(LogicalPlan, Expression => Expression, LogicalPlan => LogicalPlan)] = {
    def alone(input: LogicalPlan, lower: Expression => Expression = identity) =
      Some((input, lower, (other: LogicalPlan) => plan.withNewChildren(Seq(other))))
    plan match {
      case Project(list, input) if list.forall(_.deterministic) =>
        // an unresolved list has no aliases yet
        lazy val aliases = getAliasMap(list)
        alone(input, replaceAlias(_, aliases))
      case Filter(condition, input) if condition.deterministic => alone(input)
      case SubqueryAlias(_, input)                             => alone(input)
      case hint: StreamJoinHint                                => alone(hint.child)
      case view: View                                          => alone(view.child)
      case PipeOperator(input)                                 => alone(input)
      // a filter tests a late row with the output columns of the join
      case j: Join if !StreamJoinHint.emitsLate(j) =>
        PreservedInputs.of(j.joinType).toSeq match {
          case Seq(side) =>
            def on(other: LogicalPlan) = j.withNewChildren(j.children.updated(side.index, other))
            Some((j.children(side.index), identity, on))
          case _ => None
        }
      case _ => None
    }
  }
}
