package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, LongType}

import io.streamjoin.bounds.Saturated

/**
 * A column of whole numbers in a smaller unit, as seconds in milliseconds, by which rows are bounded.
 *
 * Where the product overflows it stays at the end of the range: what Spark makes of the condition then, an
 * error or no match, is left to the condition itself.
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
