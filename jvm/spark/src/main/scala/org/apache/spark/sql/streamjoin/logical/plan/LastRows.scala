package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Mark on an input of a join, `child OVER (ROWS 3 PRECEDING)`: a row of the other input matches
 * only the last rows of its key. The join becomes an [[AsOfJoin]]. A mark elsewhere in a plan is
 * refused.
 *
 * @param count the number of rows of a key
 */
case class LastRows(count: Int, child: LogicalPlan)
    extends InputMark {

  override protected def withNewChildInternal(newChild: LogicalPlan): LastRows =
    copy(child = newChild)
}

private[streamjoin] object LastRows extends InputMarks[LastRows]
