package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * New column names for a query with unresolved joins. It stays unresolved until they are resolved,
 * because a changelog join has other columns than its inputs together, and Spark compares the
 * numbers of columns and names.
 */
case class AwaitedAliases(names: Seq[String], child: LogicalPlan) extends UnaryNode {

  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): AwaitedAliases =
    copy(child = newChild)
}
