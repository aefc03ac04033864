package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, LongType}

import io.streamjoin.bounds.Saturated

/**
 * A column of integers in a smaller unit, for example seconds as milliseconds, for use in a bound.
 *
 * On overflow the product saturates. The condition itself decides whether Spark then fails or finds
 * no match.
 */
private[streamjoin] final case class MultipleOf(child: Expression, factor: Long)
    extends UnaryExpression {

  override def dataType: DataType = LongType

  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(value: Any): Any =
    Saturated.multiply(value.asInstanceOf[Number].longValue, factor)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, c => s"io.streamjoin.bounds.Saturated.multiply($c, ${factor}L)")

  override def sql: String = s"(${child.sql} * $factor)"

  override protected def withNewChildInternal(newChild: Expression): MultipleOf =
    copy(child = newChild)
}
