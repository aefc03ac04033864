package org.apache.spark.sql.streamjoin.logical

import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.optimizer.{EliminateOuterJoin, PushPredicateThroughJoin}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * A filter above a join goes below it where Spark would push it below a join of its own, and an outer
 * join of which it drops the padded rows becomes a narrower one.
 *
 * What Spark's rules do is asked of them, with a join of Spark's over empty relations as a stand-in.
 * Its condition stays out of it: what is demanded of one input in the join's own condition is tested
 * by the join, after late rows have been counted.
 */
object PushFilterThroughStreamJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case f @ Filter(_, j: StreamJoin) if j.resolved => push(f, j)
  }

  private def push(filter: Filter, join: StreamJoin): LogicalPlan = {
    val (candidates, others) = splitConjunctivePredicates(filter.condition).partition { c =>
      StreamJoin.mayDemand(c) || join.children.exists(i => c.references.subsetOf(i.outputSet))
    }
    val pushed = candidates.reduceOption(And).fold[LogicalPlan](join)(pushAll(_, join))
    others.reduceOption(And).fold(pushed)(Filter(_, pushed))
  }

  private def pushAll(condition: Expression, join: StreamJoin): LogicalPlan = {
    val (left, right) = (LocalRelation(join.left.output), LocalRelation(join.right.output))
    val standIn = Join(left, right, StreamJoin.sparkTypeOf(join.joinType), None, JoinHint.NONE)
    val pushed = PushPredicateThroughJoin(EliminateOuterJoin(Filter(condition, standIn)))

    def back(plan: LogicalPlan): LogicalPlan = plan match {
      case `left`             => join.left
      case `right`            => join.right
      case Filter(c, `left`)  => StreamJoinInput.filtered(join.left, c)
      case Filter(c, `right`) => StreamJoinInput.filtered(join.right, c)
      case Join(l, r, joinType, condition, _) =>
        join.copy(
          left = back(l),
          right = back(r),
          joinType = StreamJoin.typeOf(joinType).get,
          condition = condition.fold(join.condition)(And(join.condition, _))
        )
      case other => other.mapChildren(back)
    }
    back(pushed)
  }
}
