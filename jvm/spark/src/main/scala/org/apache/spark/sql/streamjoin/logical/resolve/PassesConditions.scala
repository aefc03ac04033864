package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.{AliasHelper, Expression, PipeOperator}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoinHint

/** What may stand between an inner join and a filter whose conditions may as well be the join's. */
private[logical] object PassesConditions extends AliasHelper {

  /** The input, and what makes of a condition on rows that come out one on rows of the input. */
  def unapply(plan: LogicalPlan): Option[(LogicalPlan, Expression => Expression)] = plan match {
    case Project(list, input) if list.forall(_.deterministic) =>
      // a list that is not resolved has no aliases yet
      lazy val aliases = getAliasMap(list)
      Some((input, replaceAlias(_, aliases)))
    case SubqueryAlias(_, input) => Some((input, identity))
    case h: StreamJoinHint       => Some((h.child, identity))
    case PipeOperator(input)     => Some((input, identity))
    case _                       => None
  }
}
