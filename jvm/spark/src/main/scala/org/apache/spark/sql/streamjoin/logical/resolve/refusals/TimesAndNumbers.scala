package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ImposeOrder
import org.apache.spark.sql.types._

/**
 * Analyzer rule that refuses a time plus a number, a time compared with a number, and a condition
 * without parentheses, above a watermarked event-time column. Spark would refuse them in its next
 * step, without advice.
 */
private[streamjoin] object TimesAndNumbers extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (!plan.resolved) plan.foreach { p =>
      if (
        !p.resolved && p.childrenResolved && p.children.exists(_.isStreaming) && hasImposedOrder(p)
      ) {
        p.expressions.flatMap(MissingParentheses.refusal(_, p.origin)).foreach(throw _)
        for {
          e <- p.expressions
          wrong <- mismatches(PlainCondition.of(e))
          instead <- advice(wrong)
        } throw StreamJoinErrors.analysis(
          "TIME_TYPE_MISMATCH",
          wrong.origin,
          "expression" -> ColumnNames.sql(wrong),
          "left" -> plain(wrong.left).dataType.sql,
          "right" -> plain(wrong.right).dataType.sql,
          "instead" -> instead
        )
      }
    }
    plan
  }

  private def hasImposedOrder(plan: LogicalPlan): Boolean = plan.exists {
    case o: ImposeOrder => o.imposed
    case _              => false
  }

  private def mismatches(e: Expression): Seq[BinaryExpression] = e.collect {
    case b @ (_: BinaryOperator | _: SubtractTimestamps)
        if !b.resolved && b.childrenResolved && b.checkInputDataTypes().isFailure =>
      b.asInstanceOf[BinaryExpression]
  }

  private def advice(b: BinaryExpression): Option[String] = b match {
    case _: Add => moved(b, "+")
    // Spark casts the right operand of a subtraction from a time to a time
    case _: Subtract | _: SubtractTimestamps => moved(b, "-")
    case _: BinaryComparison =>
      Seq(b.left -> b.right, b.right -> b.left).collectFirst {
        case (time, number) if isTime(time) && isNumber(number) =>
          val n = sql(number)
          s"Compare ${sql(time)} with timestamp_millis($n), or timestamp_seconds($n), by the " +
            "unit of the numbers. To impose an order on the numbers, compute this column below " +
            "the order"
        case (span, other) if isSpan(span) && distance(plain(other)).nonEmpty =>
          s"Compare ${sql(span)} with ${distance(plain(other)).get}"
      }
    case _ => None
  }

  private def moved(b: BinaryExpression, sign: String): Option[String] =
    if (isTime(b.left)) distance(plain(b.right)).map(d => s"Write ${sql(b.left)} $sign $d")
    else None

  /** Removes the casts that Spark adds to align types, which the query does not contain. */
  private def plain(e: Expression): Expression = e match {
    case c: Cast if c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty => plain(c.child)
    case other                                                      => other
  }

  private def distance(e: Expression): Option[String] = e match {
    case Literal(text, StringType) if text.toString.trim.toDoubleOption.isEmpty =>
      Some(s"INTERVAL '$text'")
    case l: Literal if isNumber(l) || l.dataType == StringType =>
      Some(s"INTERVAL '${l.toString.trim}' SECOND, or another unit")
    case number if isNumber(number) =>
      Some(s"make_dt_interval(0, 0, 0, ${sql(number)}) (of seconds)")
    case _ => None
  }

  private def isTime(e: Expression): Boolean = plain(e).dataType match {
    case TimestampType | TimestampNTZType => true
    case _                                => false
  }

  private def isNumber(e: Expression): Boolean = plain(e).dataType.isInstanceOf[NumericType]

  private def isSpan(e: Expression): Boolean = plain(e).dataType.isInstanceOf[DayTimeIntervalType]

  private def sql(e: Expression): String = ColumnNames.sql(plain(e))
}
