package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnaryExpression,
  Unevaluable
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.types.DataType

import io.streamjoin.model.Side

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

private[streamjoin] object NamedTime {

  /** A time of one of two inputs. If both inputs have its name, the side is part of the name. */
  def of(time: Attribute, left: LogicalPlan, right: LogicalPlan): NamedTime = {
    val side = if (left.outputSet.contains(time)) Side.Left else Side.Right
    val name = ColumnNames.among(left.output ++ right.output, time)
    NamedTime(time, name.getOrElse(s"${side.name}.${ColumnNames.of(time)}"))
  }
}
