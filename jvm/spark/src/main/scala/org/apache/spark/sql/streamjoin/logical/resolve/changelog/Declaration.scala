package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogJoin, ChangelogMarks}

/** Where rows become changes: what somebody has declared, and the joins of such. */
private[resolve] object Declaration {

  def is(plan: LogicalPlan): Boolean = plan match {
    case Project(_, child) => ChangelogMarks.areChanges(plan) && !ChangelogMarks.areChanges(child)
    case _: ChangelogJoin  => true
    case _                 => false
  }
}
