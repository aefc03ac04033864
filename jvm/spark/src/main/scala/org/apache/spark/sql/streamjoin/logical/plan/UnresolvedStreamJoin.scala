package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * A join that will have output columns that no input has. It keeps all nodes above unresolved until
 * the join has them, since a `*` there would miss them.
 *
 * @param child a join of Spark's, and the node that Spark puts on a join by column names
 */
case class UnresolvedStreamJoin(child: LogicalPlan) extends UnaryNode {

  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedStreamJoin =
    copy(child = newChild)
}
