package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{AliasHelper, Expression, PipeOperator}
import org.apache.spark.sql.catalyst.plans.{
  ExistenceJoin,
  LeftAnti,
  LeftOuter,
  LeftSemi,
  RightOuter
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoinHint

/**
 * What may stand between an inner join and a filter whose conditions may as well be the join's. Of an
 * outer join it is the input that it preserves.
 */
private[logical] object PassesConditions extends AliasHelper {

  /**
   * The input; what makes of a condition on rows that come out one on rows of the input, if it mentions
   * no column of another; and what puts another input in its place.
   */
  def unapply(
      plan: LogicalPlan
  ): Option[(LogicalPlan, Expression => Expression, LogicalPlan => LogicalPlan)] = {
    def alone(input: LogicalPlan, lower: Expression => Expression = identity) =
      Some((input, lower, (other: LogicalPlan) => plan.withNewChildren(Seq(other))))
    plan match {
      case Project(list, input) if list.forall(_.deterministic) =>
        // a list that is not resolved has no aliases yet
        lazy val aliases = getAliasMap(list)
        alone(input, replaceAlias(_, aliases))
      case Filter(condition, input) if condition.deterministic => alone(input)
      case SubqueryAlias(_, input)                             => alone(input)
      case hint: StreamJoinHint                                => alone(hint.child)
      case view: View                                          => alone(view.child)
      case PipeOperator(input)                                 => alone(input)
      // a late row is tested as it comes out
      case j: Join if !StreamJoinHint.emitsLate(j) =>
        j.joinType match {
          case LeftOuter | LeftSemi | LeftAnti | ExistenceJoin(_) =>
            Some((j.left, identity, other => tagged(j, j.copy(left = other))))
          case RightOuter => Some((j.right, identity, other => tagged(j, j.copy(right = other))))
          case _          => None
        }
      case _ => None
    }
  }

  private def tagged(join: Join, changed: Join): Join = {
    changed.copyTagsFrom(join)
    changed
  }
}
