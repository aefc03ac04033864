package org.apache.spark.sql.streamjoin.bounds

import java.time.{Instant, ZoneId}

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.{MICROS_PER_DAY, MICROS_PER_SECOND}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.streamjoin.bounds.Saturated

/**
 * A sum of times: `terms` with their factors, plus a constant that lies in `[low, high]`.
 *
 * The constant is a range because a day of the session's time zone has 23 to 25 hours: `t + INTERVAL
 * '1' DAY` is a known distance only within the zone's changes of offset.
 */
private[streamjoin] final case class LinearTime(
    terms: Map[ExpressionKey, Int],
    low: Long,
    high: Long
) {

  def +(that: LinearTime): LinearTime = LinearTime(
    (terms.toSeq ++ that.terms.toSeq).groupMapReduce(_._1)(_._2)(_ + _).filter(_._2 != 0),
    Saturated.add(low, that.low),
    Saturated.add(high, that.high)
  )

  def unary_- : LinearTime = LinearTime(
    terms.map { case (k, f) => k -> -f },
    Saturated.subtract(0, high),
    Saturated.subtract(0, low)
  )

  def -(that: LinearTime): LinearTime = this + -that
}

/** An expression that counts as the same term wherever it occurs. */
private[streamjoin] final class ExpressionKey(val expression: Expression) {
  private val canonical = expression.canonicalized

  override def hashCode: Int = canonical.hashCode

  override def equals(other: Any): Boolean = other match {
    case that: ExpressionKey => canonical == that.canonical
    case _                   => false
  }
}

/** Why an expression could not be brought into linear form. */
private[streamjoin] sealed trait NotLinear

private[streamjoin] object NotLinear {
  case object CalendarUnits extends NotLinear
  case object NotConstant extends NotLinear
}

/**
 * Brings expressions into the form of [[LinearTime]].
 *
 * @param opaque tells which expressions may stand as a term of their own
 */
private[streamjoin] class LinearTimes(opaque: Expression => Boolean) {

  type Result = Either[NotLinear, LinearTime]

  def of(e: Expression): Result = e match {
    case _ if e.foldable                             => constant(e)
    case a: Attribute                                => term(a)
    case Add(l, r, _) if isNumber(e)                 => plus(l, r)
    case Subtract(l, r, _) if isNumber(e)            => minus(l, r)
    case UnaryMinus(c, _) if isNumber(e)             => of(c).map(-_)
    case Cast(c, to, _, _) if widens(c.dataType, to) => of(c)
    case t: TimestampAddInterval     => shifted(t.start, t.interval, t.timeZoneId, e)
    case d: DatetimeSub              => of(d.replacement)
    case DateAdd(d, n) if n.foldable => plus(d, n).left.flatMap(_ => term(e))
    case DateSub(d, n) if n.foldable => minus(d, n).left.flatMap(_ => term(e))
    case s: SubtractTimestamps if !s.legacyInterval =>
      minus(s.left, s.right).map(_ + uncertainty(s.left.dataType, s.timeZoneId))
    case _: TimestampAddYMInterval => Left(NotLinear.CalendarUnits)
    case _: DateAddYMInterval      => Left(NotLinear.CalendarUnits)
    case _                         => term(e)
  }

  /** The expression as a single term. */
  def term(e: Expression): Result =
    if (opaque(e)) Right(LinearTime(Map(new ExpressionKey(e) -> 1), 0, 0))
    else Left(NotLinear.NotConstant)

  private def plus(l: Expression, r: Expression): Result =
    for (a <- of(l); b <- of(r)) yield a + b

  private def minus(l: Expression, r: Expression): Result =
    for (a <- of(l); b <- of(r)) yield a - b

  private def isNumber(e: Expression): Boolean = TimeUnit.of(e.dataType).contains(TimeUnit.Number)

  private def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (f: IntegralType, t: IntegralType)               => f.defaultSize <= t.defaultSize
    case (f: DayTimeIntervalType, t: DayTimeIntervalType) => f.endField <= t.endField
    case (f, t)                                           => f == t
  }

  private def constant(e: Expression): Result = {
    val value: Option[Long] = Try(e.eval()).toOption.flatMap {
      case null      => None
      case n: Number => Some(n.longValue)
      case _         => None
    }
    e.dataType match {
      case _: DayTimeIntervalType | _: IntegralType | TimestampType | TimestampNTZType | DateType =>
        value.map(v => LinearTime(Map.empty, v, v)).toRight(NotLinear.NotConstant)
      case _ => Left(NotLinear.NotConstant)
    }
  }

  private def shifted(
      start: Expression,
      interval: Expression,
      zone: Option[String],
      whole: Expression
  ): Result =
    if (!interval.foldable) term(whole)
    else
      (Try(interval.eval()).toOption, interval.dataType) match {
        case (Some(micros: Long), _: DayTimeIntervalType) =>
          of(start).map(_ + distance(start.dataType, zone, micros / MICROS_PER_DAY, micros))
        case (Some(i: CalendarInterval), CalendarIntervalType) if i.months == 0 =>
          val micros = Saturated.add(i.days * MICROS_PER_DAY, i.microseconds)
          of(start).map(_ + distance(start.dataType, zone, i.days, micros))
        case (Some(_: CalendarInterval), _) => Left(NotLinear.CalendarUnits)
        case _                              => Left(NotLinear.NotConstant)
      }

  private def distance(
      of: DataType,
      zone: Option[String],
      days: Long,
      micros: Long
  ): LinearTime = {
    val exact = LinearTime(Map.empty, micros, micros)
    if (days == 0) exact else exact + uncertainty(of, zone)
  }

  /** By how much a distance that is counted in local time may differ from elapsed time. */
  private def uncertainty(of: DataType, zone: Option[String]): LinearTime = {
    val slack =
      if (of != TimestampType) 0L
      else LinearTimes.offsetRange(DateTimeUtils.getZoneId(zone.getOrElse("UTC")))
    LinearTime(Map.empty, -slack, slack)
  }
}

private[streamjoin] object LinearTimes {

  /** The difference between the greatest and the least offset a zone has ever had, in microseconds. */
  private def offsetRange(zone: ZoneId): Long = {
    val rules = zone.getRules
    if (rules.isFixedOffset) 0L
    else {
      val past = rules.getTransitions.asScala.flatMap(t => Seq(t.getOffsetBefore, t.getOffsetAfter))
      val future =
        rules.getTransitionRules.asScala.flatMap(r => Seq(r.getOffsetBefore, r.getOffsetAfter))
      val offsets =
        (past ++ future).map(_.getTotalSeconds.toLong) :+ rules.getOffset(
          Instant.EPOCH
        ).getTotalSeconds.toLong
      (offsets.max - offsets.min) * MICROS_PER_SECOND
    }
  }
}
