package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogJoin, ChangelogMarks}

/** Detects the nodes where changes originate: declarations and changelog joins. */
private[resolve] object Declaration {

  def is(plan: LogicalPlan): Boolean = plan match {
    case Project(_, child) => ChangelogMarks.areChanges(plan) && !ChangelogMarks.areChanges(child)
    case _: ChangelogJoin  => true
    case _                 => false
  }
}
