package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{And, Expression, ExpressionSet, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{JoinTypes, StreamJoin, StreamJoinInput}
import org.apache.spark.sql.streamjoin.spark.{EliminateOuterJoin, PushPredicateThroughJoin}

/**
 * Pushes a filter below a join in the cases in which Spark pushes one below its own join. If the
 * filter rejects padded rows of an outer join, the join type becomes narrower.
 *
 * Spark's own rules decide, on a join of Spark with leaf nodes as inputs. [[InputFilters]] then
 * derives further filters from the join's own condition.
 */
object PushFilterThroughStreamJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    // late rows are emitted without columns of the other input, and the filter must see them like
    // that
    case f @ Filter(_, j: StreamJoin) if j.resolved && j.late.isEmpty => push(f, j)
  }

  private def push(filter: Filter, join: StreamJoin): LogicalPlan = {
    val (candidates, others) = splitConjunctivePredicates(filter.condition).partition { c =>
      StreamJoin.mayDemand(c) || join.children.exists(i => c.references.subsetOf(i.outputSet))
    }
    val pushed = candidates.reduceOption(And).fold[LogicalPlan](join)(pushAll(_, join))
    others.reduceOption(And).fold(pushed)(Filter(_, pushed))
  }

  private def pushAll(condition: Expression, join: StreamJoin): LogicalPlan = {
    def leaf(input: LogicalPlan) = InputFilters.Leaf(input.output)(ExpressionSet())
    val (left, right) = (leaf(join.left), leaf(join.right))
    val standIn = Join(left, right, JoinTypes.ofSpark(join.joinType), None, JoinHint.NONE)
    val pushed = PushPredicateThroughJoin(EliminateOuterJoin(Filter(condition, standIn)))

    def back(plan: LogicalPlan): LogicalPlan = plan match {
      case `left`             => join.left
      case `right`            => join.right
      case Filter(c, `left`)  => StreamJoinInput.filtered(join.left, c)
      case Filter(c, `right`) => StreamJoinInput.filtered(join.right, c)
      case j @ Join(l, r, joinType, condition, _) =>
        val whole = condition.fold(join.condition)(And(join.condition, _))
        val (onLeft, onRight) = InputFilters.of(j.copy(condition = Some(whole)), join)
        join.copy(
          left = InputFilters.filtered(back(l), onLeft),
          right = InputFilters.filtered(back(r), onRight),
          joinType = JoinTypes.of(joinType).get,
          condition = whole
        )
      case other => other.mapChildren(back)
    }
    back(pushed)
  }
}
