package org.apache.spark.sql.streamjoin.logical.resolve.orders

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Cast,
  Coalesce,
  Expression,
  Greatest,
  If,
  IsNull,
  Literal
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.nodes.JoinNode
import org.apache.spark.sql.streamjoin.spark.TimestampAddInterval
import org.apache.spark.sql.types.DayTimeIntervalType

/**
 * The event time of an order in words, since the query does not contain the expression of a join's
 * [[Rowtime]].
 */
private[resolve] object RowtimeWords {

  /** @param below the plan of the rows, whose joins have the display names of their times */
  def of(time: Expression, below: LogicalPlan): String = {
    val names = below.collect { case j: JoinNode => j.times.map(_.exprId).zip(j.names) }
      .reverse.flatten.toMap
    def words(e: Expression): String = e match {
      case a: Attribute    => names.getOrElse(a.exprId, ColumnNames.of(a))
      case Greatest(times) => times.map(words).mkString("the later of ", " and ", "")
      case If(IsNull(absent), instead, met) =>
        s"${words(met)}, or ${words(instead)} where ${words(absent)} is NULL"
      case Coalesce(Seq(met, instead)) =>
        s"${words(met)}, or ${words(instead)} where that is NULL"
      case TimestampAddInterval(from, Literal(micros: Long, _: DayTimeIntervalType), _) =>
        TimeUnit.Timestamp.movedInWords(words(from), micros)
      case c: Cast if c.dataType == c.child.dataType => words(c.child)
      case other                                     => ColumnNames.sql(other)
    }
    words(time)
  }
}
