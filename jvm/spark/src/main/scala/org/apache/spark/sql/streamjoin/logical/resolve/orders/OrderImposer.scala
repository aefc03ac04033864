package org.apache.spark.sql.streamjoin.logical.resolve.orders

import java.util.UUID

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.{ImposeOrder, UnresolvedImposeOrder}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{Distance, Distances}
import org.apache.spark.sql.streamjoin.logical.times.{BatchTime, MaxAhead}
import org.apache.spark.sql.types.{StringType, TimestampType}
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Builds an [[ImposeOrder]] node over a resolved plan, or refuses the column or the lag.
 *
 * A TIMESTAMP column also gets a watermark of Spark's, if the plan has none, for aggregations
 * above.
 */
private[streamjoin] object OrderImposer {

  def impose(u: UnresolvedImposeOrder, resolver: Resolver): LogicalPlan = {
    import u.{child, origin}
    val ofAhead = u.ahead.map(word(_, origin))
    val attribute = resolve(child, u.column, resolver, origin)
    val unit = TimeUnit
      .of(attribute.dataType)
      .filterNot(_ => TimeUnit.isWindow(attribute.dataType))
      .getOrElse(
        throw StreamJoinErrors.analysis(
          "UNSUPPORTED_TIME_TYPE",
          origin,
          "column" -> attribute.name,
          "type" -> attribute.dataType.sql,
          "instead" -> TimeOfColumn.made(attribute)
        )
      )
    val units = new Distances("lag", attribute, origin).inUnits(Distance.of(u.lag))
    val idle = u.idleTimeout.map { timeout =>
      val distances = new Distances(
        "idle_timeout",
        attribute,
        origin,
        calendar = "does not define when the input is idle"
      )
      Math.floorDiv(distances.span(Distance.of(timeout)), MICROS_PER_MILLIS)
    }
    val ahead = maxAhead(attribute, unit, u.maxAhead.map(Distance.of(_)), ofAhead, origin)
    val below = sparkWatermark(child, attribute, units)
    val marked = below.output.find(_.exprId == attribute.exprId).get
    ImposeOrder(
      UUID.randomUUID(),
      marked,
      units,
      idle,
      imposed = true,
      ahead,
      ahead.map(_ => BatchTime.forType(attribute.dataType)),
      below
    )
  }

  /** Reads an option from an SQL expression. */
  private def word(e: Expression, origin: Origin): String =
    if (e.foldable && e.dataType.isInstanceOf[StringType]) String.valueOf(e.eval())
    else throw StreamJoinErrors.wrongUse(origin, s"${e.sql} is not a constant string")

  /** @param ahead the handling of rows further ahead than the limit: `reject` or `keep` */
  private def maxAhead(
      column: Attribute,
      unit: TimeUnit,
      limit: Option[Distance],
      ahead: Option[String],
      origin: Origin
  ): Option[MaxAhead] = {
    val rejects = ahead.forall {
      case "reject" => true
      case "keep"   => false
      case other =>
        throw StreamJoinErrors.wrongUse(origin, s"ahead is 'reject' or 'keep', not '$other'")
    }
    if (ahead.nonEmpty && limit.isEmpty) {
      throw StreamJoinErrors.wrongUse(
        origin,
        "ahead applies to rows further ahead than max_ahead, and max_ahead is not set"
      )
    }
    limit.map { most =>
      val distances = new Distances(
        "max_ahead",
        column,
        origin,
        calendar = "does not bound how far ahead of the clock a time may be"
      )
      if (unit == TimeUnit.Number) {
        throw distances.refusal(
          most.text,
          "numbers cannot be compared with a clock",
          s"max_ahead for a column of times, such as timestamp_millis(${column.name}), or remove it"
        )
      }
      MaxAhead(distances.span(most), rejects)
    }
  }

  private def resolve(
      child: LogicalPlan,
      column: Seq[String],
      resolver: Resolver,
      origin: Origin
  ): Attribute = {
    val name = ColumnNames.written(column)
    def refused(reason: String, instead: String) =
      StreamJoinErrors.analysis(
        "INVALID_COLUMN",
        origin,
        "column" -> name,
        "reason" -> reason,
        "columns" -> child.output.map(ColumnNames.of).mkString(", "),
        "instead" -> instead
      )
    child.resolve(column, resolver) match {
      case Some(a: Attribute) => a
      case Some(_) =>
        val alias = ColumnNames.written(column.takeRight(1))
        throw refused(
          "it is a field inside a column, not a column",
          s"Select it as a separate column below the order: select $name AS $alias"
        )
      case None => throw refused("the input has no such column", TimeOfColumn.meant(column, child))
    }
  }

  private def sparkWatermark(child: LogicalPlan, column: Attribute, lag: Long): LogicalPlan = {
    val taken = child.exists(_.isInstanceOf[EventTimeWatermark]) || !child.isStreaming
    if (column.dataType != TimestampType || taken) child
    else {
      EventTimeWatermark(UUID.randomUUID(), column, new CalendarInterval(0, 0, lag), child)
    }
  }
}
