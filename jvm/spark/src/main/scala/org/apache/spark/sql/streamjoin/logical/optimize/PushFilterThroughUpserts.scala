package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{And, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{OfChanges, ToUpserts}

/**
 * A filter above `toUpserts` asks which rows there are: of an update of which it drops the new image the row before is
 * gone, and the sink must hear of that. So it goes below, where both images are. What asks for the kind stays: there
 * it would ask for that of an image.
 */
object PushFilterThroughUpserts extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case f @ Filter(condition, u: ToUpserts) =>
      val told = OfChanges.in(u.child)
      val (ofRow, others) = splitConjunctivePredicates(condition).partition { c =>
        c.references.nonEmpty && !told.tells(c) && !c.references.contains(u.kind)
      }
      ofRow.reduceOption(And).fold[LogicalPlan](f) { asked =>
        val upserts = u.copy(child = Filter(asked, u.child))
        others.reduceOption(And).fold[LogicalPlan](upserts)(Filter(_, upserts))
      }
  }
}
