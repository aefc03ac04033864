package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{And, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{
  AsOfJoin,
  ChangeMetadataColumns,
  StreamJoin,
  StreamJoinInput,
  StreamOrder,
  ToUpserts
}

/**
 * Pushes filters below the nodes of this project. For event-time joins see
 * [[PushFilterThroughStreamJoin]].
 *
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
    case Filter(condition, o: StreamOrder) if condition.deterministic =>
      o.copy(child = Filter(condition, o.child))

    case f @ Filter(_, j: AsOfJoin) if j.resolved && j.late.isEmpty =>
      val probe = j.bounds.probe
      def ofProbe(c: Expression) =
        c.references.subsetOf(j.input(probe).outputSet) && StreamJoin.mayDemand(c)
      pushed(f, ofProbe) { asked =>
        val filtered = StreamJoinInput.filtered(j.input(probe), asked)
        j.withNewChildren(j.children.updated(probe.index, filtered))
      }

    case f @ Filter(_, u: ToUpserts) =>
      val metadata = ChangeMetadataColumns.in(u.child)
      def ofRow(c: Expression) = !metadata.tells(c) && !c.references.contains(u.kind)
      pushed(f, ofRow)(asked => u.copy(child = Filter(asked, u.child)))
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
}
