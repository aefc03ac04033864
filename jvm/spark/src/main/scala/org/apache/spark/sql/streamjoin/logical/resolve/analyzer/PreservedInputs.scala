package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{And, Expression, ExpressionSet}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, JoinHint}
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.logical.optimize.InputFilters
import org.apache.spark.sql.streamjoin.logical.plan.{JoinKind, StreamJoinHint}
import org.apache.spark.sql.streamjoin.spark.EliminateOuterJoin

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
  def of(joinType: JoinType): Set[Side] = joinType match {
    case LeftOuter | LeftSemi | LeftAnti | ExistenceJoin(_) => Set(Side.Left)
    case RightOuter                                         => Set(Side.Right)
    case _: InnerLike                                       => Side.both.toSet
    case _                                                  => Set.empty
  }

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
