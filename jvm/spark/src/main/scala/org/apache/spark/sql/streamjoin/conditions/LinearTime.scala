package org.apache.spark.sql.streamjoin.conditions

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types._

/**
 * A value as a linear combination of times, with a range of error.
 *
 * `scale * value` is the sum of `terms`, each times its factor, plus a number in `[low, high]`. It
 * is also one of the points of `grid`.
 *
 * {{{
 *   a.t - b.t + INTERVAL '1' MINUTE    terms a.t, -b.t    [60000000, 60000000]    scale 1
 *   unix_seconds(a.t)                  terms a.t          [-999999, 0]            scale 1000000
 * }}}
 *
 * Rounding and local time widen the range: a day of a session's time zone has 23 to 25 hours. The
 * grid recovers precision after rounding. For example, a difference of whole seconds that is above
 * zero is at least one second.
 */
private[streamjoin] final case class LinearTime(
    terms: Map[ExpressionKey, BigInt],
    low: BigInt,
    high: BigInt,
    scale: BigInt,
    grid: Grid
) {

  def +(that: LinearTime): LinearTime = {
    val common = scale / (scale gcd that.scale) * that.scale
    val (a, b) = (widened(common / scale), that.widened(common / that.scale))
    LinearTime(
      (a.terms.toSeq ++ b.terms.toSeq).groupMapReduce(_._1)(_._2)(_ + _).filter(_._2 != 0),
      a.low + b.low,
      a.high + b.high,
      common,
      a.grid + b.grid
    )
  }

  def unary_- : LinearTime =
    LinearTime(terms.map { case (k, f) => k -> -f }, -high, -low, scale, -grid)

  def -(that: LinearTime): LinearTime = this + -that

  def *(factor: Long): LinearTime = {
    val product = widened(BigInt(factor).abs).copy(scale = scale)
    if (factor < 0) -product else product
  }

  /** Adds an integer in `[least, most]`, in the unit of the value. */
  def moved(least: BigInt, most: BigInt): LinearTime = {
    val by = if (least == most) Grid(0, scale * least) else Grid(scale, 0)
    copy(low = low + scale * least, high = high + scale * most, grid = grid + by)
  }

  /** Divides by a positive number, and rounds down. */
  def floorDiv(by: Long): LinearTime = rounded(by, 1 - by, 0)

  /** Divides an integer value by a positive number, and rounds towards zero. */
  def truncateDiv(by: Long): LinearTime = rounded(by, 1 - by, by - 1)

  /** Divides an integer value by a positive number, and rounds to the nearest integer. */
  def nearestDiv(by: Long): LinearTime = rounded(by, -by / 2, by / 2)

  private def rounded(by: Long, least: Long, most: Long): LinearTime = {
    val quotient = moved(least, most).over(by)
    quotient.copy(grid = Grid(quotient.scale, 0))
  }

  /** Divides by a positive number without rounding. */
  def over(by: BigInt): LinearTime = copy(scale = scale * by)

  /** Whether the type contains every possible result, so that the value never wraps around. */
  def fits(dataType: IntegralType): Boolean = {
    val ends = terms.toSeq.map { case (term, factor) =>
      val (least, most) = LinearTime.range(term.expression.dataType)
      Seq(factor * least, factor * most)
    }
    val (least, most) = LinearTime.range(dataType)
    ends.map(_.min).sum + low >= scale * least && ends.map(_.max).sum + high <= scale * most
  }

  /**
   * The smallest `slack` with `x >= y - slack` for each value that is at least (strict: above)
   * zero. The terms must be `x` and `-y`, each times `factor`. None if no BIGINT is large enough.
   */
  def slackFromZero(factor: BigInt, strict: Boolean): Option[Long] = {
    val least = if (strict) grid.above(0) else grid.atLeast(0)
    val slack = floor(high - least, factor)
    Option.when(slack <= Long.MaxValue)(slack.max(Long.MinValue).toLong)
  }

  private def floor(a: BigInt, by: BigInt): BigInt = if (a >= 0) a / by else -((by - 1 - a) / by)

  private def widened(by: BigInt): LinearTime = LinearTime(
    terms.map { case (k, f) => k -> f * by }.filter(_._2 != 0),
    low * by,
    high * by,
    scale * by,
    grid * by
  )
}

private[streamjoin] object LinearTime {

  def constant(value: BigInt): LinearTime = LinearTime(Map.empty, value, value, 1, Grid(0, value))

  /** A value that is an integer, as all times are. */
  def term(e: Expression): LinearTime =
    LinearTime(Map(new ExpressionKey(e) -> 1), 0, 0, 1, Grid(1, 0))

  /** The least and the greatest value of a type. */
  def range(dataType: DataType): (BigInt, BigInt) = dataType match {
    case ByteType    => (Byte.MinValue.toInt, Byte.MaxValue.toInt)
    case ShortType   => (Short.MinValue.toInt, Short.MaxValue.toInt)
    case IntegerType => (Int.MinValue, Int.MaxValue)
    // days from 0001-01-01 to 9999-12-31
    case DateType => (-719162, 2932896)
    case _        => (Long.MinValue, Long.MaxValue)
  }
}

/**
 * The points `start + n * step`, for all integers `n`.
 *
 * @param step 0 for a single point
 */
private[streamjoin] final case class Grid(step: BigInt, start: BigInt) {

  /** All sums of a point of each grid. */
  def +(that: Grid): Grid = Grid(step gcd that.step, start + that.start)

  def *(factor: BigInt): Grid = Grid(step * factor, start * factor)

  def unary_- : Grid = Grid(step, -start)

  /** The smallest point that is at least `n`; `n` if there is none. */
  def atLeast(n: BigInt): BigInt =
    if (step == 0) start.max(n) else n + ((start - n) mod step)

  /** The smallest point above `n`; `n + 1` if there is none. */
  def above(n: BigInt): BigInt = atLeast(n + 1)
}

/** Key of an expression in a map. Two keys are equal if the canonical forms are. */
private[streamjoin] final class ExpressionKey(val expression: Expression) {
  private val canonical = expression.canonicalized

  override def hashCode: Int = canonical.hashCode

  override def equals(other: Any): Boolean = other match {
    case that: ExpressionKey => canonical == that.canonical
    case _                   => false
  }
}
