package org.apache.spark.sql.streamjoin.logical.resolve

import java.util.UUID
import java.util.concurrent.TimeUnit.MICROSECONDS

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.catalyst.util.DateTimeConstants.{MICROS_PER_DAY, MICROS_PER_MILLIS}
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.ImposeOrder
import org.apache.spark.sql.streamjoin.logical.times.{BatchTime, MaxAhead}
import org.apache.spark.sql.types.{
  DayTimeIntervalType,
  IntegralType,
  StringType,
  TimestampType,
  YearMonthIntervalType
}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/** The lag of an order as the person gave it. */
private[streamjoin] sealed trait Lag

private[streamjoin] object Lag {

  /** For times: an interval. */
  final case class Interval(value: CalendarInterval, text: String) extends Lag

  /** For numbers: a number. */
  final case class Count(value: Long) extends Lag

  /** Neither; whose column it was meant for decides what is to be written instead. */
  final case class Unreadable(text: String, reason: String) extends Lag
}

/**
 * What may be said of an order besides its column and lag.
 *
 * @param ahead what becomes of rows further ahead than `maxAhead`: `reject` or `keep`
 */
private[streamjoin] final case class OrderOptions(
    idleTimeout: Option[Lag],
    maxAhead: Option[Lag],
    ahead: Option[String]
)

/**
 * Makes an [[ImposeOrder]] node over a resolved plan, or refuses the column or the lag.
 *
 * A TIMESTAMP column gets Spark's own watermark too, where the plan has none yet, so that
 * aggregations above see one.
 */
private[streamjoin] object OrderImposer {

  def impose(
      child: LogicalPlan,
      column: Seq[String],
      lag: Lag,
      options: OrderOptions,
      resolver: Resolver,
      origin: Origin
  ): LogicalPlan = {
    val attribute = resolve(child, column, resolver, origin)
    val unit = TimeUnit
      .of(attribute.dataType)
      .filterNot(_ => TimeUnit.isWindow(attribute.dataType))
      .getOrElse(
        throw StreamJoinErrors.unsupportedTimeType(origin, attribute.name, attribute.dataType)
      )
    val units = inUnits(attribute, unit, "lag", lag, origin)
    val idle = options.idleTimeout.map { timeout =>
      Math.floorDiv(span(attribute, "idle_timeout", timeout, origin), MICROS_PER_MILLIS)
    }
    val ahead = maxAhead(attribute, unit, options, origin)
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

  /** An interval as people write it: `1 minute`, `INTERVAL '1' MINUTE`. */
  def interval(text: String): Lag =
    Try(IntervalUtils.stringToInterval(UTF8String.fromString(text))).toOption
      .filter(_ != null)
      .orElse(literal(text))
      .fold[Lag](Lag.Unreadable(s"'$text'", "it is not an interval"))(Lag.Interval(_, text))

  /** What Spark reads only where it expects SQL: fields, `INTERVAL '01:30' MINUTE TO SECOND`. */
  private def literal(text: String): Option[CalendarInterval] =
    Try(CatalystSqlParser.parseExpression(text)).toOption.collect { case l: Literal => lag(l) }
      .collect { case Lag.Interval(i, _) if !text.trim.startsWith("'") => i }

  /** A distance as text, in the unit of a column: an interval, or a whole number for numbers. */
  def distance(
      column: Attribute,
      unit: TimeUnit,
      parameter: String,
      text: String,
      origin: Origin
  ): Long = {
    val lag = text.trim.toLongOption.map(Lag.Count(_)).getOrElse(interval(text))
    inUnits(column, unit, parameter, lag, origin)
  }

  /** The length of an interval of days and less; none where no BIGINT can hold it. */
  def microsOf(i: CalendarInterval): Option[Long] =
    Try(IntervalUtils.getDuration(i, MICROSECONDS)).toOption

  /** A lag as an expression of SQL. */
  def lag(e: Expression): Lag =
    if (!e.foldable) Lag.Unreadable(e.sql, "it is not constant")
    else {
      (e.eval(), e.dataType) match {
        case (micros: Long, _: DayTimeIntervalType) =>
          Lag.Interval(new CalendarInterval(0, 0, micros), e.sql)
        case (i: CalendarInterval, _) => Lag.Interval(i, e.sql)
        case (months: Int, _: YearMonthIntervalType) =>
          Lag.Interval(new CalendarInterval(months, 0, 0), e.sql)
        case (text: UTF8String, _)        => interval(text.toString)
        case (n: Number, _: IntegralType) => Lag.Count(n.longValue)
        case _ => Lag.Unreadable(e.sql, "it is neither an interval nor a whole number")
      }
    }

  /** An option as an expression of SQL. */
  def word(e: Expression, origin: Origin): String =
    if (e.foldable && e.dataType.isInstanceOf[StringType]) String.valueOf(e.eval())
    else throw StreamJoinErrors.wrongUse(origin, s"${e.sql} is no constant string")

  private def maxAhead(
      column: Attribute,
      unit: TimeUnit,
      options: OrderOptions,
      origin: Origin
  ): Option[MaxAhead] = {
    val rejects = options.ahead.forall {
      case "reject" => true
      case "keep"   => false
      case other =>
        throw StreamJoinErrors.wrongUse(origin, s"ahead is 'reject' or 'keep', not '$other'")
    }
    if (options.ahead.nonEmpty && options.maxAhead.isEmpty) {
      throw StreamJoinErrors.wrongUse(
        origin,
        "ahead says what becomes of rows further ahead than max_ahead, and there is no max_ahead"
      )
    }
    options.maxAhead.map { limit =>
      if (unit == TimeUnit.Number) {
        throw StreamJoinErrors.invalidLag(
          origin,
          "max_ahead",
          text(limit),
          column.name,
          column.dataType,
          "numbers cannot be held against a clock",
          s"it for a column of times, such as timestamp_millis(${column.name}), or leave it out"
        )
      }
      MaxAhead(span(column, "max_ahead", limit, origin), rejects)
    }
  }

  private def text(lag: Lag): String = lag match {
    case Lag.Interval(_, text)   => s"'$text'"
    case Lag.Count(n)            => n.toString
    case Lag.Unreadable(text, _) => text
  }

  private def resolve(
      child: LogicalPlan,
      column: Seq[String],
      resolver: Resolver,
      origin: Origin
  ): Attribute = {
    val name = ColumnNames.written(column)
    def refused(reason: String) =
      StreamJoinErrors.invalidColumn(origin, name, reason, child.output.map(ColumnNames.of))
    child.resolve(column, resolver) match {
      case Some(a: Attribute) => a
      case Some(_)            => throw refused("it is a field inside a column, not a column")
      case None               => throw refused("there is no such column")
    }
  }

  private def sparkWatermark(child: LogicalPlan, column: Attribute, lag: Long): LogicalPlan = {
    val taken = child.exists(_.isInstanceOf[EventTimeWatermark]) || !child.isStreaming
    if (column.dataType != TimestampType || taken) child
    else {
      EventTimeWatermark(UUID.randomUUID(), column, new CalendarInterval(0, 0, lag), child)
    }
  }

  private def inUnits(
      column: Attribute,
      unit: TimeUnit,
      parameter: String,
      lag: Lag,
      origin: Origin
  ): Long = {
    def refused(value: String, reason: String, expected: String) =
      StreamJoinErrors.invalidLag(
        origin,
        parameter,
        value,
        column.name,
        column.dataType,
        reason,
        expected
      )
    (unit, lag) match {
      case (TimeUnit.Number, Lag.Count(n)) =>
        if (n < 0) throw StreamJoinErrors.negativeLag(origin, parameter, n.toString, column.name)
        n
      case (TimeUnit.Number, Lag.Interval(_, text)) =>
        throw refused(s"'$text'", "the column holds numbers", "a whole number")
      case (TimeUnit.Number, Lag.Unreadable(text, reason)) =>
        throw refused(text, reason, "a whole number")
      case (_, Lag.Unreadable(text, reason)) =>
        throw refused(text, reason, "an interval such as '1 minute'")
      case (_, Lag.Count(n)) =>
        throw refused(n.toString, "the column holds times", "an interval such as '1 minute'")
      case (_, Lag.Interval(i, text)) =>
        val micros = duration(column, parameter, i, text, origin)
        if (unit == TimeUnit.Date) Math.floorDiv(micros, MICROS_PER_DAY) else micros
    }
  }

  /** A span of wall-clock time, in microseconds. */
  private def span(column: Attribute, parameter: String, value: Lag, origin: Origin): Long = {
    def refused(value: String, reason: String) = StreamJoinErrors.invalidLag(
      origin,
      parameter,
      value,
      column.name,
      column.dataType,
      reason,
      "an interval such as '1 minute'"
    )
    value match {
      case Lag.Interval(i, text) => duration(column, parameter, i, text, origin)
      case Lag.Count(n)          => throw refused(n.toString, "it is a span of wall-clock time")
      case Lag.Unreadable(text, reason) => throw refused(text, reason)
    }
  }

  private def duration(
      column: Attribute,
      parameter: String,
      i: CalendarInterval,
      text: String,
      origin: Origin
  ): Long = {
    if (i.months != 0) throw StreamJoinErrors.calendarInterval(origin, s"the $parameter '$text'")
    val micros = microsOf(i).getOrElse(
      throw StreamJoinErrors.invalidLag(
        origin,
        parameter,
        s"'$text'",
        column.name,
        column.dataType,
        "it is out of range",
        s"an interval of at most ${Long.MaxValue / MICROS_PER_DAY} days"
      )
    )
    if (micros < 0) throw StreamJoinErrors.negativeLag(origin, parameter, s"'$text'", column.name)
    micros
  }
}
