package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Copies the tags of a plan to the plan that replaces it. */
private[streamjoin] object Tagged {

  def apply[P <: LogicalPlan](replaced: LogicalPlan)(made: P): P = {
    made.copyTagsFrom(replaced)
    made
  }
}
