package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.PassesColumns

/**
 * Logical node that splits an update that changes the key of its row: a delete of the old key
 * precedes the update. All other messages pass through unchanged.
 *
 * {{{
 *   u, before 1, after 2   -> d, before 1, after 2;  u, before 1, after 2
 *   u, before 1, after 1   -> unchanged
 *   u, no before           -> unchanged: the old key is not known
 * }}}
 *
 * Its output is the output of its child. So columns that are read from a message are the same
 * expressions with the node and without.
 *
 * Source: Debezium's connectors, which write such a pair of messages if the primary key of a row
 * changes.
 *
 * @param message the column of the messages
 * @param changesKey whether a message is such an update
 * @param delete the message of the delete, of the same type
 */
case class SplitKeyUpdates(
    message: Attribute,
    changesKey: Expression,
    delete: Expression,
    child: LogicalPlan
) extends PassesColumns {

  /** A constraint on the messages below need not apply to the deletes. */
  override protected lazy val validConstraints: ExpressionSet =
    child.constraints.filterNot(_.references.contains(message))

  override protected def withNewChildInternal(newChild: LogicalPlan): SplitKeyUpdates =
    copy(child = newChild)
}
