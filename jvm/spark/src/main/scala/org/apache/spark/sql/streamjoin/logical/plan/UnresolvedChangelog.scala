package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * A call of `FROM_CHANGELOG(TABLE(child), ...)` or a similar function with unresolved input.
 *
 * @param function the name, in lower case
 * @param columns for arguments that are columns, their column names
 * @param names the names of the other arguments, in the order of `values`
 */
case class UnresolvedChangelog(
    function: String,
    columns: Map[String, Seq[String]],
    names: Seq[String],
    values: Seq[Expression],
    child: LogicalPlan
) extends UnaryNode {

  def value(name: String): Option[Expression] = names.zip(values).toMap.get(name)

  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedChangelog =
    copy(child = newChild)
}
