package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * A join out of which columns are asked that none of its inputs has. Until it has them, nothing above
 * it is resolved: a `*` there would miss them.
 *
 * @param child a join of Spark's, and what Spark puts on it where it is one by column names
 */
case class UnresolvedStreamJoin(child: LogicalPlan) extends UnaryNode {

  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedStreamJoin =
    copy(child = newChild)
}
