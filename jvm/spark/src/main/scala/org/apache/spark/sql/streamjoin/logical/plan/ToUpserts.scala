package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * Of the changes of each key in a batch, the one that counts: the row that is there after it, or that it
 * is gone.
 *
 * @param key by which rows are told apart
 * @param kind the column that says what became of a row
 */
case class ToUpserts(key: Seq[Attribute], kind: Attribute, child: LogicalPlan) extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): ToUpserts =
    copy(child = newChild)
}

object ToUpserts {

  /** Whether changes come from such a one: then an update comes without the image that it replaces. */
  private[streamjoin] def isIn(changes: LogicalPlan): Boolean =
    changes.exists(_.isInstanceOf[ToUpserts])
}
