package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{
  And,
  AttributeSet,
  Expression,
  ExpressionSet,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.optimizer.{EliminateOuterJoin, PushPredicateThroughJoin}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, JoinHint, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  AsOfJoin,
  ChangeMetadataColumns,
  StreamJoin,
  StreamOrder,
  ToUpserts
}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinTypes

/**
 * Pushes filters below the nodes of this project.
 *
 *  - Event-time join: in the cases in which Spark pushes a filter below its own join. If the filter
 *    rejects padded rows of an outer join, the join type becomes narrower. Spark's own rules
 *    decide, on a join of Spark with leaf nodes as inputs. [[InputFilters]] then derives further
 *    filters from the join's own condition.
 *  - Ordered output: rejected rows are not buffered. The watermarks of the sources decide when rows
 *    are emitted, with or without the filter.
 *  - As-of join: each probe row matches independently of the others. Conditions on the build side
 *    stay above. Below, a dropped build row would make an earlier one the last row.
 *  - `toUpserts`: both images of an update are visible below. If the filter rejects the new image,
 *    the sink needs a delete for the old one. A condition on the change kind stays above: below, it
 *    would test the kind of an image.
 */
object PushFilters extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    // late rows are emitted without columns of the other input, and the filter must see them like
    // that
    case f @ Filter(_, j: StreamJoin) if j.resolved && j.late.isEmpty => throughJoin(f, j)

    case Filter(condition, o: StreamOrder) if condition.deterministic =>
      o.copy(child = StreamJoinInput.filtered(o.child, condition))

    case f @ Filter(_, j: AsOfJoin) if j.resolved && j.late.isEmpty =>
      val probe = j.bounds.probe
      def ofProbe(c: Expression) =
        c.references.subsetOf(j.input(probe).outputSet) && StreamJoin.mayDemand(c)
      pushed(f, ofProbe) { asked =>
        val filtered = StreamJoinInput.filtered(j.input(probe), asked)
        j.withNewChildren(j.children.updated(probe.index, filtered))
      }

    // Spark leaves a filter above a projection with a nondeterministic or an expensive column
    case f @ Filter(_, p @ Project(list, below)) if leadsToUpserts(below) =>
      val once = AttributeSet(list.filterNot(_.deterministic).map(_.toAttribute))
      def mayPass(c: Expression) = c.deterministic && !c.references.exists(once.contains)
      pushed(f, mayPass)(c => p.copy(child = Filter(replaceAlias(c, getAliasMap(list)), below)))

    case f @ Filter(_, u: ToUpserts) =>
      val metadata = ChangeMetadataColumns.in(u.child)
      def ofRow(c: Expression) = !metadata.tells(c) && !c.references.contains(u.kind)
      pushed(f, ofRow)(asked => u.copy(child = Filter(asked, u.child)))
  }

  private def leadsToUpserts(plan: LogicalPlan): Boolean = plan match {
    case Project(_, child) => leadsToUpserts(child)
    case other             => other.isInstanceOf[ToUpserts]
  }

  /**
   * @param mayPass whether a conjunct with references may be pushed
   * @param below the node with the pushed conjuncts below it
   */
  private def pushed(filter: Filter, mayPass: Expression => Boolean)(
      below: Expression => LogicalPlan
  ): LogicalPlan = {
    val (some, others) = splitConjunctivePredicates(filter.condition)
      .partition(c => c.references.nonEmpty && mayPass(c))
    some.reduceOption(And).fold[LogicalPlan](filter) { asked =>
      others.reduceOption(And).fold(below(asked))(Filter(_, below(asked)))
    }
  }

  private def throughJoin(filter: Filter, join: StreamJoin): LogicalPlan = {
    val (candidates, others) = splitConjunctivePredicates(filter.condition).partition { c =>
      StreamJoin.mayDemand(c) || join.children.exists(i => c.references.subsetOf(i.outputSet))
    }
    val below = candidates.reduceOption(And).fold[LogicalPlan](join)(pushedInto(join, _))
    others.reduceOption(And).fold(below)(Filter(_, below))
  }

  private def pushedInto(join: StreamJoin, condition: Expression): LogicalPlan = {
    def leaf(input: LogicalPlan) = InputFilters.Leaf(input.output)(ExpressionSet())
    val (left, right) = (leaf(join.left), leaf(join.right))
    val standIn = Join(left, right, JoinTypes.ofSpark(join.joinType), None, JoinHint.NONE)

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
    back(PushPredicateThroughJoin(EliminateOuterJoin(Filter(condition, standIn))))
  }
}
