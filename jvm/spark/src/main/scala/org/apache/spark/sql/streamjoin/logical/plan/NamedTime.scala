package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnaryExpression,
  Unevaluable
}
import org.apache.spark.sql.types.DataType

/**
 * An event-time column of an input of a join, with its display name, since the optimizer removes
 * aliases.
 *
 * It is an expression, so that it follows its column if Spark replaces that.
 */
private[streamjoin] final case class NamedTime(child: Expression, name: String)
    extends UnaryExpression
    with Unevaluable {

  def column: Attribute = child.asInstanceOf[Attribute]

  override def dataType: DataType = child.dataType

  override def toString: String = s"$child ($name)"

  override protected def withNewChildInternal(newChild: Expression): NamedTime =
    copy(child = newChild)
}
