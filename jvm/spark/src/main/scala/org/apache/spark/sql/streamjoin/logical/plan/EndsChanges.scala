package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Logical node that may read a changelog although its output rows are final. */
private[streamjoin] trait EndsChanges { this: LogicalPlan =>

  /** Whether an input is a changelog. */
  def readsChanges: Boolean
}

/** Extractor of nodes that read a changelog and emit final rows. */
private[streamjoin] object EndsChanges {
  def unapply(plan: LogicalPlan): Boolean = plan match {
    case node: EndsChanges => node.readsChanges
    case _                 => false
  }
}
