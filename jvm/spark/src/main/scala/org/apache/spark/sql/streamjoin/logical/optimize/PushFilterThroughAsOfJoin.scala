package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{And, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{AsOfJoin, StreamJoin, StreamJoinInput}

/**
 * Pushes conditions on the probe side below an as-of join: each probe row matches independently of
 * the others.
 *
 * Conditions on the build side stay above. Below, a dropped build row would make an earlier one the
 * last row.
 */
object PushFilterThroughAsOfJoin extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case f @ Filter(condition, j: AsOfJoin) if j.resolved && j.late.isEmpty =>
      val probe = j.bounds.probe
      val input = j.children(probe.index)
      val (ofProbe, others) = splitConjunctivePredicates(condition).partition { c =>
        c.references.nonEmpty && c.references.subsetOf(input.outputSet) && StreamJoin.mayDemand(c)
      }
      ofProbe.reduceOption(And).fold[LogicalPlan](f) { asked =>
        val filtered = StreamJoinInput.filtered(input, asked)
        val join = j.withNewChildren(j.children.updated(probe.index, filtered))
        others.reduceOption(And).fold[LogicalPlan](join)(Filter(_, join))
      }
  }
}
