package org.apache.spark.sql.streamjoin.conditions

import java.time.{Instant, ZoneId}

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.util.DateTimeConstants._
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.streamjoin.spark.{Arithmetic, TimestampAddInterval}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Converts expressions to [[LinearTime]].
 *
 * @param opaque accepts expressions that may be a term as a whole
 * @param windows fields of windows that count as event times
 */
private[streamjoin] class LinearTimes(
    opaque: Expression => Boolean,
    windows: WindowFields = WindowFields.none
) {

  /** The linear form of an expression, or the reason why it has none. */
  type Result = Either[RejectedBound.Reason, LinearTime]

  def of(e: Expression): Result = form(e)

  /** The expression as a single term. */
  def term(e: Expression): Result =
    if (opaque(e)) Right(LinearTime.term(e)) else Left(RejectedBound.NotConstant)

  private type Shape = PartialFunction[Expression, Result]

  private lazy val shapes: Shape = arithmetic.orElse(moved).orElse(distances).orElse(rounded)

  private def form(e: Expression): Result = e match {
    case _ if e.foldable       => constant(e)
    case _: Attribute          => term(e)
    case r: RuntimeReplaceable => form(r.replacement)
    case c: Cast               => cast(c)
    case windows.Field(w, by)  => term(w).map(_.moved(by, by))
    case _                     => shapes.applyOrElse(e, term(_: Expression))
  }

  private def both(l: Expression, r: Expression)(f: (LinearTime, LinearTime) => LinearTime) =
    for (a <- form(l); b <- form(r)) yield f(a, b)

  private def arithmetic: Shape = {
    case UnaryPositive(c) => form(c)
    case UnaryMinus(c, failOnError) if sums(c) =>
      form(c).map(-_).flatMap(inRange(c.dataType, failOnError))
    case a @ Add(l, r, context) if sums(a, l, r) =>
      both(l, r)(_ + _).flatMap(inRange(a.dataType, fails(Arithmetic.mode(context))))
    case s @ Subtract(l, r, context) if sums(s, l, r) =>
      both(l, r)(_ - _).flatMap(inRange(s.dataType, fails(Arithmetic.mode(context))))
    case m @ Multiply(l, r, context) if m.dataType.isInstanceOf[IntegralType] =>
      (whole(l).map(_ -> r) orElse whole(r).map(_ -> l)).fold(term(m)) { case (n, e) =>
        form(e).map(_ * n).flatMap(inRange(m.dataType, fails(Arithmetic.mode(context))))
      }
    case m @ MultiplyDTInterval(i, n) => whole(n).fold(term(m))(n => form(i).map(_ * n))
    case d @ IntegralDivide(l, r, _)  => quotient(d, l, r)(_.truncateDiv(_))
    case d @ DivideDTInterval(i, n)   => quotient(d, i, n)(_.nearestDiv(_))
  }

  /** Divides by the absolute value: both kinds of rounding are symmetric around zero. */
  private def quotient(e: Expression, dividend: Expression, divisor: Expression)(
      divided: (LinearTime, Long) => LinearTime
  ): Result = whole(divisor).filter(n => n != 0 && n != Long.MinValue).fold(term(e)) { n =>
    form(dividend).map(x => if (n > 0) divided(x, n) else -divided(x, -n))
  }

  private def sums(e: Expression, operands: Expression*): Boolean = e.dataType match {
    case _: IntegralType | _: DayTimeIntervalType => true
    // Spark rounds digits that exceed the scale of the result
    case d: DecimalType =>
      operands.map(_.dataType).forall {
        case o: DecimalType => o.scale <= d.scale
        case _              => false
      }
    case _ => false
  }

  private def fails(mode: EvalMode.Value): Boolean = mode != EvalMode.LEGACY

  /** Refuses integers that may wrap around: these are not linear. */
  private def inRange(dataType: DataType, failOnError: Boolean)(x: LinearTime): Result =
    dataType match {
      case t: IntegralType if !failOnError && !x.fits(t) => Left(RejectedBound.WrapsAround)
      case _                                             => Right(x)
    }

  /** Times moved by a constant. */
  private def moved: Shape = {
    case t @ TimestampAddInterval(start, interval, zone) =>
      if (interval.foldable) movedBy(start, interval, zone) else term(t)
    case t @ TimestampAdd(unit, n, start, zone) =>
      TimestampUnits.micros(unit).toRight(RejectedBound.CalendarInterval).flatMap { size =>
        whole(n).fold(term(t)) { n =>
          val days = if (size >= MICROS_PER_DAY) n else 0
          val micros = BigInt(n) * size
          form(start).map(shifted(_, start.dataType, zone, days, micros))
        }
      }
    case d @ DateAdd(date, n) => whole(n).fold(term(d))(movedByDays(d, date, _))
    case d @ DateSub(date, n) => whole(n).fold(term(d))(n => movedByDays(d, date, -n))
    case d @ DateAddInterval(date, interval, _, _) =>
      value(interval) match {
        case Some(i: CalendarInterval) if i.months != 0 => Left(RejectedBound.CalendarInterval)
        case Some(i: CalendarInterval) if i.microseconds == 0 =>
          form(date).map(_.moved(i.days, i.days))
        case _ => term(d)
      }
    case _: TimestampAddYMInterval | _: DateAddYMInterval | _: AddMonths =>
      Left(RejectedBound.CalendarInterval)
  }

  /** Spark adds days without an overflow check. A sum that may overflow becomes an opaque term. */
  private def movedByDays(sum: Expression, date: Expression, days: Long): Result =
    form(date).map(_.moved(days, days)).flatMap { x =>
      if (x.fits(IntegerType)) Right(x) else term(sum)
    }

  private def movedBy(start: Expression, interval: Expression, zone: Option[String]): Result =
    (value(interval), interval.dataType) match {
      case (Some(micros: Long), _: DayTimeIntervalType) =>
        form(start).map(shifted(_, start.dataType, zone, micros / MICROS_PER_DAY, micros))
      case (Some(i: CalendarInterval), CalendarIntervalType) if i.months == 0 =>
        val micros = BigInt(i.days) * MICROS_PER_DAY + i.microseconds
        form(start).map(shifted(_, start.dataType, zone, i.days, micros))
      case (Some(_: CalendarInterval), _) => Left(RejectedBound.CalendarInterval)
      case _                              => Left(RejectedBound.NotConstant)
    }

  /**
   * Adds a constant interval. Spark adds whole days in local time, whatever the type of the
   * interval, and the rest as elapsed time.
   */
  private def shifted(
      time: LinearTime,
      dataType: DataType,
      zone: Option[String],
      days: Long,
      micros: BigInt
  ): LinearTime = {
    val uncertain = if (days == 0) 0 else localTime(dataType, zone).range
    time.moved(micros - uncertain, micros + uncertain)
  }

  /** Distances between two times. */
  private def distances: Shape = {
    case SubtractTimestamps(l, r, false, zone) => localDistance(l, r, zone)
    case SubtractDates(l, r, false)            => both(l, r)(_ - _).map(_ * MICROS_PER_DAY)
    case DateDiff(l, r)                        => both(l, r)(_ - _)
    case TimestampDiff(unit, start, end, zone) =>
      TimestampUnits.micros(unit).toRight(RejectedBound.CalendarInterval).flatMap { size =>
        localDistance(end, start, zone).map(_.truncateDiv(size))
      }
  }

  private def localDistance(l: Expression, r: Expression, zone: Option[String]): Result =
    both(l, r) { (a, b) =>
      val uncertain = Seq(l, r).map(e => localTime(e.dataType, zone).range).max
      (a - b).moved(-uncertain, uncertain)
    }

  /** Times as numbers, and rounded times. */
  private def rounded: Shape = {
    case UnixMicros(t)  => form(t)
    case UnixMillis(t)  => form(t).map(_.floorDiv(MICROS_PER_MILLIS))
    case UnixSeconds(t) => form(t).map(_.floorDiv(MICROS_PER_SECOND))
    case UnixDate(d)    => form(d)
    // Spark fails for numbers beyond the range of timestamps
    case SecondsToTimestamp(n) if isWhole(n)         => form(n).map(_ * MICROS_PER_SECOND)
    case MillisToTimestamp(n)                        => form(n).map(_ * MICROS_PER_MILLIS)
    case MicrosToTimestamp(n)                        => form(n)
    case UnixTimestamp(t, _, zone, _) if isTime(t)   => seconds(t, zone)
    case ToUnixTimestamp(t, _, zone, _) if isTime(t) => seconds(t, zone)
    case r @ TruncTimestamp(format, t, zone) =>
      value(format).flatMap(TimestampUnits.longest).fold(term(r)) { micros =>
        val uncertain =
          if (micros <= MICROS_PER_SECOND) 0 else localTime(TimestampType, zone).range
        form(t).map(_.moved(1 - micros - uncertain, uncertain))
      }
    case r @ TruncDate(date, format) =>
      value(format).flatMap(TimestampUnits.longest).filter(_ > MICROS_PER_DAY).fold(term(r)) { n =>
        form(date).map(_.moved(1 - n / MICROS_PER_DAY, 0))
      }
    case LastDay(date) => form(date).map(_.moved(0, 30))
  }

  private def isWhole(e: Expression): Boolean = e.dataType.isInstanceOf[IntegralType]

  private def isTime(e: Expression): Boolean = TimeUnit.of(e.dataType).exists(_ != TimeUnit.Number)

  private def seconds(time: Expression, zone: Option[String]): Result = {
    val instant =
      if (time.dataType != DateType) form(time)
      else form(time).map(midnight(_, TimestampType, zone))
    instant.map(_.truncateDiv(MICROS_PER_SECOND))
  }

  private def cast(c: Cast): Result = {
    def inner = form(c.child)
    (c.child.dataType, c.dataType) match {
      case (from, to) if from == to => inner
      case (_: IntegralType, to: IntegralType) =>
        inner.flatMap(inRange(to, fails(c.evalMode)))
      case (from: DayTimeIntervalType, to: DayTimeIntervalType) if from.endField <= to.endField =>
        inner
      case (_: IntegralType, _: DecimalType)                              => inner
      case (from: DecimalType, to: DecimalType) if from.scale <= to.scale => inner
      case (TimestampType, to: IntegralType) =>
        inner.map(_.floorDiv(MICROS_PER_SECOND)).flatMap(inRange(to, fails(c.evalMode)))
      case (TimestampType, to: DecimalType) if to.scale >= 6 =>
        inner.map(_.over(MICROS_PER_SECOND))
      case (DateType, to @ (TimestampType | TimestampNTZType)) =>
        inner.map(midnight(_, to, c.timeZoneId))
      case (from @ (TimestampType | TimestampNTZType), DateType) =>
        val offsets = localTime(from, c.timeZoneId)
        inner.map(_.moved(offsets.least, offsets.most).floorDiv(MICROS_PER_DAY))
      case (TimestampType, TimestampNTZType) =>
        val offsets = ZoneOffsets.of(c.timeZoneId)
        inner.map(_.moved(offsets.least, offsets.most))
      case (TimestampNTZType, TimestampType) =>
        val offsets = ZoneOffsets.of(c.timeZoneId)
        inner.map(_.moved(-offsets.most, -offsets.least))
      case _ => term(c)
    }
  }

  private def midnight(date: LinearTime, to: DataType, zone: Option[String]): LinearTime = {
    val offsets = localTime(to, zone)
    (date * MICROS_PER_DAY).moved(-offsets.most, -offsets.least)
  }

  /** The offsets between a value of this type and local time. */
  private def localTime(dataType: DataType, zone: Option[String]): ZoneOffsets =
    if (dataType == TimestampType) ZoneOffsets.of(zone) else ZoneOffsets.none

  private def value(e: Expression): Option[Any] =
    if (e.foldable) Try(e.eval()).toOption.filter(_ != null) else None

  private def whole(e: Expression): Option[Long] = e.dataType match {
    case _: IntegralType | _: DayTimeIntervalType =>
      value(e).collect { case n: Number => n.longValue }
    case _ => None
  }

  private def constant(e: Expression): Result = {
    val found = (e.dataType, value(e)) match {
      case (d: DecimalType, Some(n: Decimal)) =>
        val unscaled = BigInt(n.toJavaBigDecimal.setScale(d.scale).unscaledValue)
        Some(LinearTime.constant(unscaled).over(BigInt(10).pow(d.scale)))
      case (DateType | TimestampType | TimestampNTZType, Some(n: Number)) =>
        Some(LinearTime.constant(n.longValue))
      case _ => whole(e).map(LinearTime.constant(_))
    }
    found.toRight(RejectedBound.NotConstant)
  }
}

/**
 * The smallest and the largest offset of a time zone from UTC, past and future, in microseconds.
 */
private[streamjoin] final case class ZoneOffsets(least: Long, most: Long) {

  /** The largest difference between a distance in local time and elapsed time. */
  def range: Long = most - least
}

private[streamjoin] object ZoneOffsets {

  val none: ZoneOffsets = ZoneOffsets(0, 0)

  def of(zone: Option[String]): ZoneOffsets = of(DateTimeUtils.getZoneId(zone.getOrElse("UTC")))

  private def of(zone: ZoneId): ZoneOffsets = {
    val rules = zone.getRules
    val changes =
      rules.getTransitions.asScala.flatMap(t => Seq(t.getOffsetBefore, t.getOffsetAfter)) ++
        rules.getTransitionRules.asScala.flatMap(r => Seq(r.getOffsetBefore, r.getOffsetAfter))
    val offsets =
      (changes.toSeq :+ rules.getOffset(Instant.EPOCH)).map(_.getTotalSeconds * MICROS_PER_SECOND)
    ZoneOffsets(offsets.min, offsets.max)
  }
}
