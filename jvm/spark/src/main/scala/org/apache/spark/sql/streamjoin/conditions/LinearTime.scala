package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types._

import io.streamjoin.bounds.Saturated

/**
 * What is known of a value as a sum of times: `scale * value` is the sum of `terms`, each times its
 * factor, plus something in `[low, high]`.
 *
 * {{{
 *   a.t - b.t + INTERVAL '1' MINUTE    terms a.t, -b.t    [60000000, 60000000]    scale 1
 *   unix_seconds(a.t)                  terms a.t          [-999999, 0]            scale 1000000
 * }}}
 *
 * The range is wide where something is rounded, or where local time is involved: a day of a session's
 * time zone has 23 to 25 hours.
 *
 * Arithmetic that leaves the range of `Long` throws an `ArithmeticException`: a bound that cannot be
 * computed must become no bound, never a tighter one.
 */
private[streamjoin] final case class LinearTime(
    terms: Map[ExpressionKey, Long],
    low: Long,
    high: Long,
    scale: Long
) {
  import Math.{addExact, multiplyExact, negateExact}

  def +(that: LinearTime): LinearTime = {
    val common = lcm(scale, that.scale)
    val (a, b) = (widened(common / scale), that.widened(common / that.scale))
    LinearTime(
      (a.terms.toSeq ++ b.terms.toSeq)
        .groupMapReduce(_._1)(_._2)(addExact(_: Long, _: Long))
        .filter(_._2 != 0),
      addExact(a.low, b.low),
      addExact(a.high, b.high),
      common
    )
  }

  def unary_- : LinearTime = LinearTime(
    terms.map { case (k, f) => k -> negateExact(f) },
    negateExact(high),
    negateExact(low),
    scale
  )

  def -(that: LinearTime): LinearTime = this + -that

  def *(factor: Long): LinearTime =
    if (factor < 0) -(this * negateExact(factor)) else widened(factor).copy(scale = scale)

  /** The value moved by something in `[least, most]`, in the unit of the value. */
  def moved(least: Long, most: Long): LinearTime = copy(
    low = addExact(low, multiplyExact(scale, least)),
    high = addExact(high, multiplyExact(scale, most))
  )

  /** The value divided by a positive number and rounded down. */
  def floorDiv(by: Long): LinearTime = moved(1 - by, 0).over(by)

  /** The value divided by a positive number and rounded towards zero. */
  def truncateDiv(by: Long): LinearTime = moved(1 - by, by - 1).over(by)

  /** The value divided by a positive number, without rounding. */
  def over(by: Long): LinearTime = copy(scale = multiplyExact(scale, by))

  /** Whether a value of this type can hold whatever comes out, so that it never wraps around. */
  def fits(dataType: IntegralType): Boolean = {
    val ends = terms.toSeq.map { case (term, factor) =>
      val (least, most) = LinearTime.range(term.expression.dataType)
      Seq(least * factor, most * factor)
    }
    val (least, most) = LinearTime.range(dataType)
    ends.map(_.min).sum + low >= least * scale && ends.map(_.max).sum + high <= most * scale
  }

  /**
   * The least `slack` with `x >= y - slack` wherever the value is at least (strictly: above) zero,
   * where the terms are `x` and `-y`.
   *
   * @param whole whether the value is a whole number, so that above zero means at least one
   */
  def slackFromZero(factor: Long, strict: Boolean, whole: Boolean): Long = {
    val step = if (!strict) 0 else if (whole) scale else 1
    Math.floorDiv(Saturated.subtract(high, step), factor)
  }

  private def widened(by: Long): LinearTime = LinearTime(
    terms.map { case (k, f) => k -> multiplyExact(f, by) }.filter(_._2 != 0),
    multiplyExact(low, by),
    multiplyExact(high, by),
    multiplyExact(scale, by)
  )

  private def lcm(a: Long, b: Long): Long =
    if (a == b) a else multiplyExact(a, b / (BigInt(a) gcd BigInt(b)).toLong)
}

private[streamjoin] object LinearTime {

  def constant(value: Long): LinearTime = LinearTime(Map.empty, value, value, 1)

  def term(e: Expression): LinearTime = LinearTime(Map(new ExpressionKey(e) -> 1L), 0, 0, 1)

  private def range(dataType: DataType): (BigInt, BigInt) = dataType match {
    case ByteType    => (Byte.MinValue.toInt, Byte.MaxValue.toInt)
    case ShortType   => (Short.MinValue.toInt, Short.MaxValue.toInt)
    case IntegerType => (Int.MinValue, Int.MaxValue)
    // days from 0001-01-01 to 9999-12-31
    case DateType => (-719162, 2932896)
    case _        => (Long.MinValue, Long.MaxValue)
  }
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
