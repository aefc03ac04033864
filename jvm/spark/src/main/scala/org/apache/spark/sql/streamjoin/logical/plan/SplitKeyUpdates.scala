package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * Splits an update that changes the key of its row: a delete of the old key comes before the update. All other
 * messages pass as they are.
 *
 * {{{
 *   u, before 1, after 2   -> d, before 1, after 2;  u, before 1, after 2
 *   u, before 1, after 1   -> as it is
 *   u, no before           -> as it is: the old key is not known
 * }}}
 *
 * Its output is that of its child, so the columns read from a message are the same expressions with the node and without.
 *
 * Source: Debezium's connectors, which write such a pair of messages where the primary key of a table changes.
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
) extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  /** What holds of the messages below need not hold of the deletes. */
  override protected lazy val validConstraints: ExpressionSet =
    child.constraints.filterNot(_.references.contains(message))

  override protected def withNewChildInternal(newChild: LogicalPlan): SplitKeyUpdates =
    copy(child = newChild)
}
