package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.time.Duration
import java.util.concurrent.TimeUnit.MICROSECONDS

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  DateSub,
  DatetimeSub,
  Expression,
  GreaterThanOrEqual,
  Literal,
  Subtract,
  UnaryMinus
}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.NearestWord
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.spark.{Arithmetic, TimestampAddInterval}
import org.apache.spark.sql.types.{DayTimeIntervalType, IntegralType, YearMonthIntervalType}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/**
 * A distance between two times or two numbers, as given in the query: a lag, a timeout, a window
 * length, a retention.
 */
private[streamjoin] sealed trait Distance {

  /** The distance as written. */
  def text: String
}

private[streamjoin] object Distance {

  /** A distance of times: an interval. */
  final case class Interval(value: CalendarInterval, text: String) extends Distance

  /** A distance of numbers: a number. */
  final case class Count(value: Long) extends Distance {
    override def text: String = value.toString
  }

  /**
   * Neither an interval nor a number. The type of the column determines the advice in the error.
   *
   * @param meant the interval that was probably intended
   */
  final case class Unreadable(text: String, reason: String, meant: Option[String] = None)
      extends Distance

  /** Reads the text of a setting: `1 minute`, `INTERVAL '1' MINUTE`, `100`. */
  def of(text: String): Distance = text.trim.toLongOption.fold(interval(text))(Count(_))

  /** Reads a constant SQL expression: an interval, a string with an interval, or a whole number. */
  def of(e: Expression): Distance =
    if (!e.foldable) Unreadable(e.sql, "it is not constant")
    else {
      (e.eval(), e.dataType) match {
        case (micros: Long, _: DayTimeIntervalType) =>
          Interval(new CalendarInterval(0, 0, micros), e.sql)
        case (i: CalendarInterval, _) => Interval(i, e.sql)
        case (months: Int, _: YearMonthIntervalType) =>
          Interval(new CalendarInterval(months, 0, 0), e.sql)
        case (text: UTF8String, _)        => interval(text.toString)
        case (n: Number, _: IntegralType) => Count(n.longValue)
        case _ => Unreadable(e.sql, "it is neither an interval nor a whole number")
      }
    }

  private def interval(text: String): Distance =
    Try(IntervalUtils.stringToInterval(UTF8String.fromString(text))).toOption
      .filter(_ != null)
      .orElse(literal(text))
      .fold[Distance](unreadable(text))(Interval(_, s"'$text'"))

  /** The reason why a number as text is not an interval. */
  private[shared] val NoUnit = "it has no unit"

  private def unreadable(text: String): Unreadable = Unreadable(
    s"'$text'",
    if (text.trim.toLongOption.nonEmpty) NoUnit else "it is not an interval",
    IntervalSuggestion.of(text)
  )

  /** Reads syntax that Spark only accepts in SQL: fields, `INTERVAL '01:30' MINUTE TO SECOND`. */
  private def literal(text: String): Option[CalendarInterval] =
    Try(CatalystSqlParser.parseExpression(text)).toOption.collect { case l: Literal => of(l) }
      .collect { case Interval(i, _) if !text.trim.startsWith("'") => i }
}

/**
 * Converts distances to the unit of a column, or refuses them with advice.
 *
 * @param parameter the name of the parameter for errors
 * @param example an interval in the syntax of the parameter
 * @param calendar the effect of an interval of months or years, which has no constant length
 */
private[streamjoin] final class Distances(
    parameter: String,
    column: Attribute,
    origin: Origin,
    example: String = "'1 minute'",
    calendar: String = Distances.Unbounded
) {
  import Distance._

  private val unit = TimeUnit.of(column.dataType)

  /** In the unit of the column, rounded down. */
  def inUnits(distance: Distance): Long = inMicros(distance) match {
    case micros if unit.contains(TimeUnit.Date) => Math.floorDiv(micros, MICROS_PER_DAY)
    case other                                  => other
  }

  /**
   * The condition `later >= earlier - distance` between times of the column's type, in the form that
   * a query would have.
   */
  def notBefore(later: Expression, earlier: Expression, distance: Distance): Expression =
    (unit, inUnits(distance)) match {
      case (Some(TimeUnit.Number), n) =>
        GreaterThanOrEqual(later, Subtract(earlier, Literal(n), Arithmetic.ansi))
      case (Some(TimeUnit.Date), days) =>
        GreaterThanOrEqual(later, DateSub(earlier, Literal(days.toInt)))
      case (_, micros) =>
        val interval = CatalystSqlParser.parseExpression(TimeUnit.Timestamp.sql(micros))
        val start = TimestampAddInterval(
          earlier,
          UnaryMinus(interval, failOnError = true),
          Some(SQLConf.get.sessionLocalTimeZone)
        )
        GreaterThanOrEqual(later, DatetimeSub(earlier, interval, start))
    }

  /** A number for a numeric column, else microseconds. */
  def inMicros(distance: Distance): Long = (unit, distance) match {
    case (Some(TimeUnit.Number), Count(n)) => notNegative(n, distance)
    case (Some(TimeUnit.Number), Interval(_, text)) =>
      throw refusal(text, "the column has numbers", "a whole number")
    case (Some(TimeUnit.Number), Unreadable(text, NoUnit, _)) =>
      throw refusal(text, "it is a string, and the column has numbers", "a whole number")
    case (Some(TimeUnit.Number), Unreadable(text, reason, _)) =>
      throw refusal(text, reason, "a whole number")
    case (_, Count(n)) => throw refusal(n.toString, "the column has times", interval)
    case _             => span(distance)
  }

  /** Wall-clock time in microseconds, for a column of any type. */
  def span(distance: Distance): Long = distance match {
    case Count(n) => throw refusal(n.toString, "it is a span of wall-clock time", interval)
    case Unreadable(text, reason, meant) =>
      throw refusal(text, reason, meant.fold(interval)(m => s"$interval; here perhaps $m"))
    case Interval(i, text) =>
      if (i.months != 0)
        throw StreamJoinErrors.calendarInterval(origin, s"the $parameter $text", calendar)
      val micros = Try(IntervalUtils.getDuration(i, MICROSECONDS)).getOrElse {
        val most = Long.MaxValue / MICROS_PER_DAY
        throw refusal(text, "it is out of range", s"an interval of at most $most days")
      }
      notNegative(micros, distance)
  }

  def refusal(value: String, reason: String, expected: String): StreamJoinAnalysisException =
    StreamJoinErrors.analysis(
      "INVALID_LAG",
      origin,
      "parameter" -> parameter,
      "value" -> value,
      "column" -> column.name,
      "type" -> column.dataType.sql,
      "reason" -> reason,
      "expected" -> expected
    )

  private def notNegative(amount: Long, distance: Distance): Long =
    if (amount >= 0) amount
    else
      throw StreamJoinErrors.analysis(
        "NEGATIVE_LAG",
        origin,
        "parameter" -> parameter,
        "value" -> distance.text,
        "column" -> column.name
      )

  private def interval = s"an interval such as $example"
}

private[resolve] object Distances {

  /** The effect of a bound of months, for errors. */
  val Unbounded = "does not bound how long the join buffers a row"
}

/** Suggests an interval for a string that is none: `10m`, `1 minuet`, `PT1H`, `10`. */
private[resolve] object IntervalSuggestion {

  /** The units with their abbreviations. */
  private val units = Seq(
    "microsecond" -> Set("us"),
    "millisecond" -> Set("ms"),
    "second" -> Set("s", "sec", "secs"),
    "minute" -> Set("m", "min", "mins"),
    "hour" -> Set("h", "hr", "hrs"),
    "day" -> Set("d"),
    "week" -> Set("w")
  )

  private val Bare = "\\s*(\\d+)\\s*".r
  private val Counted = "(?i)\\s*(\\d+)\\s*([a-z]+)\\s*".r

  /** The suggested intervals, in quotes. */
  def of(text: String): Option[String] = text match {
    case Bare(n) => Some(s"${written(n, "second")} or ${written(n, "minute")}")
    case Counted(n, unit) =>
      val word = unit.toLowerCase(java.util.Locale.ROOT)
      units.collectFirst { case (name, short) if short(word) => name }
        .orElse(NearestWord.of(word.stripSuffix("s"), units.map(_._1)))
        .map(written(n, _))
    case _ => Try(Duration.parse(text.trim)).toOption.filterNot(_.isNegative).map(ofDuration)
  }

  private def ofDuration(d: Duration): String = {
    val sizes = Seq("day" -> 86400L, "hour" -> 3600L, "minute" -> 60L, "second" -> 1L)
    sizes
      .collectFirst {
        case (unit, size) if d.getNano == 0 && d.getSeconds % size == 0 =>
          written((d.getSeconds / size).toString, unit)
      }
      .getOrElse(written((d.toNanos / 1000L).toString, "microsecond"))
  }

  private def written(n: String, unit: String): String =
    if (n == "1") s"'$n $unit'" else s"'$n ${unit}s'"
}
