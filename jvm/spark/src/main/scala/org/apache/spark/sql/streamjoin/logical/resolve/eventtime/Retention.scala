package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.conditions.{RetentionLimit, TimeUnit}
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.MissingBound
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{Distance, Distances}
import org.apache.spark.sql.streamjoin.spark.{Arithmetic, TimestampAddInterval}
import org.apache.spark.sql.streamjoin.StreamJoinConf

/**
 * Bounds what the condition leaves unbounded, where the person has said for how long rows are to be
 * kept: the missing inequality becomes a part of the condition. What comes out is what the same join
 * gives as a batch query with that inequality.
 */
private[streamjoin] object Retention {

  def limit(join: StreamJoin): StreamJoin =
    asked(join).fold(join) { case (name, retention) =>
      val missing = MissingBound.of(join).map(inequality(_, name, retention))
      join.copy(condition = (join.condition +: missing).reduce(And(_, _)))
    }

  /** What was given, and as what. */
  private def asked(join: StreamJoin): Option[(String, String)] = {
    def setting = SQLConf.get.getConf(StreamJoinConf.Retention)
    join.options.retention
      .map("retention" -> _)
      .orElse(setting.map(s"setting ${StreamJoinConf.Retention.key}" -> _))
  }

  private def inequality(missing: MissingBound, name: String, retention: String): Expression = {
    val column = missing.later.column
    val kept = new Distances(name, column, column.origin).inUnits(Distance.of(retention))
    val (later, earlier) = (missing.later.expression, missing.earlier.expression)
    val bound = missing.unit match {
      case TimeUnit.Number =>
        GreaterThanOrEqual(later, Subtract(earlier, Literal(kept), Arithmetic.ansi))
      case TimeUnit.Date => GreaterThanOrEqual(later, DateSub(earlier, Literal(kept.toInt)))
      case _ =>
        val interval = CatalystSqlParser.parseExpression(missing.unit.sql(kept))
        val start = TimestampAddInterval(
          earlier,
          UnaryMinus(interval, failOnError = true),
          Some(SQLConf.get.sessionLocalTimeZone)
        )
        GreaterThanOrEqual(later, DatetimeSub(earlier, interval, start))
    }
    RetentionLimit(bound)
  }
}
