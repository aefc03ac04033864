package org.apache.spark.sql.streamjoin.conditions

import scala.annotation.tailrec
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * Solves `f(x) <= limit` and `f(x) >= limit` for an integer, interval or decimal `x`. The function
 * `f` must be increasing, and consist of quotients, products, floating-point numbers and roundings.
 *
 * {{{
 *   timestampdiff(MINUTE, o.t, d.t) <= 60                         d.t - o.t <= 3659999999 us
 *   (unix_seconds(d.t) - unix_seconds(o.t)) / 60 < 5              unix_seconds(...) - ... <= 299
 * }}}
 *
 * Bisection evaluates the comparison with Spark itself, so that rounding is exactly Spark's.
 */
private[streamjoin] object MonotoneInverse {

  /** @return the inner expression, and the largest value for which the comparison holds, if any */
  def atMost(f: Expression, limit: Expression, strict: Boolean): Option[(Expression, Expression)] =
    solve(f, limit)((y, l) => if (strict) LessThan(y, l) else LessThanOrEqual(y, l), sign = 1)

  /** @return the inner expression, and the smallest value for which the comparison holds, if any */
  def atLeast(f: Expression, limit: Expression, strict: Boolean): Option[(Expression, Expression)] =
    solve(f, limit)((y, l) => if (strict) GreaterThan(y, l) else GreaterThanOrEqual(y, l), -1)

  private def solve(f: Expression, limit: Expression)(
      comparison: (Expression, Expression) => Expression,
      sign: Int
  ): Option[(Expression, Literal)] =
    if (!limit.foldable) None
    else
      chain(f).filter(c => c.inner ne f).flatMap { c =>
        // ~x reverses the order of all integers
        def at(x: Long): Literal = c.literal(if (sign > 0) x else ~x)
        // on overflow, no pair passes at the far end (x >= 0); at the near end, the comparison is
        // assumed to hold, which only widens the bound
        def holds(x: Long): Boolean =
          try Option(comparison(c.outer(at(x)), limit).eval()).fold(x < 0)(_ == true)
          catch { case _: ArithmeticException => x < 0 }
        Try(greatest(holds)).toOption.flatten
          .filter(x => c.makesAll || x != Long.MaxValue)
          .map(x => c.inner -> at(x))
      }

  /**
   * The whole expression as a function: `outer(x)` has `x` instead of `inner`.
   *
   * @param makesAll whether `literal` can create all values of `inner`
   */
  private final case class Chain(
      inner: Expression,
      literal: Long => Literal,
      outer: Expression => Expression,
      makesAll: Boolean
  ) {
    def followedBy(step: Expression => Expression): Chain = copy(outer = x => step(outer(x)))
  }

  private def chain(e: Expression): Option[Chain] = e match {
    case i @ IntegralDivide(l, r, _) if isWhole(l) && positive(r) =>
      chain(l).map(_.followedBy(x => i.copy(left = x, right = Cast(r, LongType))))
    case IntegralDivide(s: SubtractTimestamps, r, _) if positive(r) =>
      r.eval() match {
        case micros: Long => Some(quotient(s, micros))
        case _            => None
      }
    case TimestampDiff(unit, start, end, zone) =>
      TimestampUnits.micros(unit).map { micros =>
        quotient(SubtractTimestamps(end, start, legacyInterval = false, zone), micros)
      }
    case Cast(c, DoubleType, _, _) if isWhole(c)           => followed(e, c)
    case Cast(c, _: DecimalType, _, _) if isWhole(c)       => followed(e, c)
    case Divide(l, r, _) if isFraction(l) && positive(r)   => followed(e, l)
    case Multiply(l, r, _) if isFraction(l) && positive(r) => followed(e, l)
    case DivideDTInterval(l, r) if positive(r)             => followed(e, l)
    case MultiplyDTInterval(l, r) if positive(r)           => followed(e, l)
    case f: Floor if isFraction(f.child)                   => followed(f, f.child)
    case c: Ceil if isFraction(c.child)                    => followed(c, c.child)
    case _ =>
      literals(e.dataType).map { case (literal, makesAll) =>
        Chain(e, literal, identity, makesAll)
      }
  }

  /** A step that is increasing in one operand. All other operands are constant. */
  private def followed(e: Expression, operand: Expression): Option[Chain] =
    chain(operand).map(_.followedBy { x =>
      e.withNewChildren(e.children.map(c => if (c eq operand) x else c))
    })

  private def literals(dataType: DataType): Option[(Long => Literal, Boolean)] = dataType match {
    case _: IntegralType        => Some((Literal(_: Long), true))
    case i: DayTimeIntervalType => Some((Literal(_: Long, i), true))
    case d: DecimalType =>
      Some(((x: Long) => Literal(Decimal(x, d.precision, d.scale), d), false))
    case _ => None
  }

  private def quotient(distance: SubtractTimestamps, micros: Long): Chain = Chain(
    distance,
    Literal(_, DayTimeIntervalType()),
    x => IntegralDivide(x, Literal(micros)),
    makesAll = true
  )

  private def isWhole(e: Expression): Boolean = e.dataType.isInstanceOf[IntegralType]

  private def isFraction(e: Expression): Boolean = e.dataType match {
    case DoubleType | _: DecimalType => true
    case _                           => false
  }

  private def positive(e: Expression): Boolean = e.foldable && Try(e.eval()).toOption.exists {
    case d: Double  => d > 0 && !d.isInfinite
    case d: Decimal => d.toJavaBigDecimal.signum > 0
    case n: Number  => n.longValue > 0
    case _          => false
  }

  /**
   * The largest number for which a predicate holds that holds for all smaller ones; none if it
   * never holds.
   */
  private def greatest(holds: Long => Boolean): Option[Long] = {
    @tailrec def search(yes: Long, no: Long): Long = {
      val middle = (yes >> 1) + (no >> 1) + (yes & no & 1)
      if (middle == yes) yes
      else if (holds(middle)) search(middle, no)
      else search(yes, middle)
    }
    if (!holds(Long.MinValue)) None
    else if (holds(Long.MaxValue)) Some(Long.MaxValue)
    else Some(search(Long.MinValue, Long.MaxValue))
  }
}
