package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * New names for all columns of a query with joins. Until those are resolved nobody counts the columns, for the result of
 * a changelog join has others than its inputs together.
 */
case class AwaitedAliases(names: Seq[String], child: LogicalPlan) extends UnaryNode {

  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): AwaitedAliases =
    copy(child = newChild)
}
