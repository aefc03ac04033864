package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.PassesColumns

/**
 * Logical node that keeps one change of each key in a batch: the row after the batch, or its
 * delete.
 *
 * @param key the columns that identify a row
 * @param kind the column with the row kind
 */
case class ToUpserts(key: Seq[Attribute], kind: Attribute, child: LogicalPlan)
    extends PassesColumns {

  override protected def withNewChildInternal(newChild: LogicalPlan): ToUpserts =
    copy(child = newChild)
}

object ToUpserts {

  /** Whether changes are upserts: then an update has no old image. */
  private[streamjoin] def isIn(changes: LogicalPlan): Boolean =
    changes.exists(_.isInstanceOf[ToUpserts])
}
