package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * On an input of a join: of each key only the last rows at the time of a row of the other input take
 * part, `child OVER (ROWS 3 PRECEDING)`. The join becomes an [[AsOfJoin]]; a plan in which one is left
 * is refused.
 *
 * @param count how many rows of a key
 */
case class LastRows(count: Int, child: LogicalPlan)
    extends InputMark {

  override protected def withNewChildInternal(newChild: LogicalPlan): LastRows =
    copy(child = newChild)
}

private[streamjoin] object LastRows extends InputMarks[LastRows]
