package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{
  AliasHelper,
  And,
  Expression,
  ExpressionSet,
  PipeOperator
}
import org.apache.spark.sql.catalyst.optimizer.EliminateOuterJoin
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.logical.optimize.InputFilters
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{JoinKind, StreamJoinHint}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinTypes

import io.streamjoin.model.Side

/**
 * The inputs of an outer join to which a condition above the join may be moved.
 *
 * {{{
 *   p JOIN q ... FULL JOIN r ... WHERE q.t >= p.t
 *
 *   The condition drops all rows that are NULL for p and q. The others are those of a LEFT join,
 *   which preserves the rows of p JOIN q. So the condition may be evaluated below.
 * }}}
 */
private[resolve] object PreservedInputs {

  /** Whether a join is an outer join of streams whose padded rows a condition above may drop. */
  def isOuter(j: Join): Boolean = j.joinType match {
    case LeftOuter | RightOuter | FullOuter =>
      JoinKind.of(j).contains(JoinKind.EventTime) && !StreamJoinHint.emitsLate(j)
    case _ => false
  }

  /** The inputs whose rows a join emits, but never pads. */
  def of(joinType: JoinType): Set[Side] = JoinTypes.of(joinType).toSeq.flatMap(_.always).toSet

  /**
   * The join type with the fewest padded rows that gives the same result under the conditions.
   *
   * It applies Spark's own rule to a join over leaf nodes.
   */
  def narrowed(j: Join, conditions: Seq[Expression]): JoinType =
    conditions.map(PlainCondition.of).reduceOption(And).fold(j.joinType) { condition =>
      def leaf(side: Side) = InputFilters.Leaf(j.children(side.index).output)(ExpressionSet())
      val standIn = Join(leaf(Side.Left), leaf(Side.Right), j.joinType, None, JoinHint.NONE)
      EliminateOuterJoin(Filter(condition, standIn))
        .collectFirst { case Join(_, _, joinType, _, _) => joinType }
        .getOrElse(j.joinType)
    }
}

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
