package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.{And, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{ChangeMetadataColumns, ToUpserts}

/**
 * Pushes a filter on row data below `toUpserts`, where both images of an update are visible.
 *
 * If the filter rejects the new image of an update, the sink needs a delete for the old image. A
 * condition on the change kind stays above: below, it would test the kind of an image.
 */
object PushFilterThroughUpserts extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case f @ Filter(condition, u: ToUpserts) =>
      val told = ChangeMetadataColumns.in(u.child)
      val (ofRow, others) = splitConjunctivePredicates(condition).partition { c =>
        c.references.nonEmpty && !told.tells(c) && !c.references.contains(u.kind)
      }
      ofRow.reduceOption(And).fold[LogicalPlan](f) { asked =>
        val upserts = u.copy(child = Filter(asked, u.child))
        others.reduceOption(And).fold[LogicalPlan](upserts)(Filter(_, upserts))
      }
  }
}
