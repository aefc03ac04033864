package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.spark.{Arithmetic, TimestampAddInterval}

/** Builder of the condition `later >= earlier - distance`, in the form that a query would have. */
private[resolve] object NotBefore {

  /** @param distance the distance in the unit of the times */
  def of(later: Expression, earlier: Expression, unit: TimeUnit, distance: Long): Expression =
    unit match {
      case TimeUnit.Number =>
        GreaterThanOrEqual(later, Subtract(earlier, Literal(distance), Arithmetic.ansi))
      case TimeUnit.Date => GreaterThanOrEqual(later, DateSub(earlier, Literal(distance.toInt)))
      case _ =>
        val interval = CatalystSqlParser.parseExpression(unit.sql(distance))
        val start = TimestampAddInterval(
          earlier,
          UnaryMinus(interval, failOnError = true),
          Some(SQLConf.get.sessionLocalTimeZone)
        )
        GreaterThanOrEqual(later, DatetimeSub(earlier, interval, start))
    }
}
