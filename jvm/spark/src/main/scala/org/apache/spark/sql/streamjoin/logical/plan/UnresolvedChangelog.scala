package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * `FROM_CHANGELOG(TABLE(child), ...)` and its like before their input is known.
 *
 * @param function the name, in lower case
 * @param columns of arguments that are columns, their names
 * @param names of the other arguments, in the order of `values`
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
