package org.apache.spark.sql.streamjoin.conditions

import scala.annotation.tailrec
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * Solves `f(x) <= limit` and `f(x) >= limit` for whole numbers `x`, where `f` grows with `x` and is
 * built of quotients, floating-point numbers and roundings.
 *
 * {{{
 *   timestampdiff(MINUTE, o.t, d.t) <= 60                         d.t - o.t <= 3659999999 us
 *   (unix_seconds(d.t) - unix_seconds(o.t)) / 60 < 5              unix_seconds(...) - ... <= 299
 * }}}
 *
 * The comparison itself is asked, by bisection, so that rounding is exactly that of Spark.
 */
private[streamjoin] object MonotoneInverse {

  /** @return the inner expression, and the greatest value at which the comparison holds, if any */
  def atMost(f: Expression, limit: Expression, strict: Boolean): Option[(Expression, Expression)] =
    solve(f, limit)((y, l) => if (strict) LessThan(y, l) else LessThanOrEqual(y, l), sign = 1)

  /** @return the inner expression, and the least value at which the comparison holds, if any */
  def atLeast(f: Expression, limit: Expression, strict: Boolean): Option[(Expression, Expression)] =
    solve(f, limit)((y, l) => if (strict) GreaterThan(y, l) else GreaterThanOrEqual(y, l), -1)

  private def solve(f: Expression, limit: Expression)(
      comparison: (Expression, Expression) => Expression,
      sign: Int
  ): Option[(Expression, Literal)] =
    if (!limit.foldable) None
    else
      chain(f).filter(c => c.inner ne f).flatMap { c =>
        // ~x turns the order of all whole numbers round
        def holds(x: Long): Boolean = Try(
          comparison(c.outer(Literal(if (sign > 0) x else ~x)), limit).eval() == true
        ).getOrElse(false)
        greatest(holds).map(x => c.inner -> c.literal(if (sign > 0) x else ~x))
      }

  /** `outer(x)` is the whole expression, with `x` in place of `inner`. */
  private final case class Chain(
      inner: Expression,
      literal: Long => Literal,
      outer: Expression => Expression
  ) {
    def followedBy(step: Expression => Expression): Chain = copy(outer = x => step(outer(x)))
  }

  private def chain(e: Expression): Option[Chain] = e match {
    case i @ IntegralDivide(l, r, _) if isWhole(l) && positive(r) =>
      chain(l).map(_.followedBy(x => i.copy(left = x, right = Cast(r, LongType))))
    case IntegralDivide(s: SubtractTimestamps, r, _) if positive(r) =>
      r.eval() match {
        case micros: Long => quotient(s, micros)
        case _            => None
      }
    case TimestampDiff(unit, start, end, zone) =>
      TimestampUnits.micros(unit).flatMap { micros =>
        quotient(SubtractTimestamps(end, start, legacyInterval = false, zone), micros)
      }
    case Cast(c, DoubleType, _, _) if isWhole(c) => chain(c).map(_.followedBy(Cast(_, DoubleType)))
    case d @ Divide(l, r, _) if isDouble(l) && positive(r) =>
      chain(l).map(_.followedBy(x => d.copy(left = x)))
    case m @ Multiply(l, r, _) if isDouble(l) && positive(r) =>
      chain(l).map(_.followedBy(x => m.copy(left = x)))
    // not by their constructors, which Spark 4.3 has changed
    case f: Floor if isDouble(f.child) => chain(f.child).map(_.followedBy(within(f)))
    case c: Ceil if isDouble(c.child)  => chain(c.child).map(_.followedBy(within(c)))
    case _ if isWhole(e)               => Some(Chain(e, Literal(_), identity))
    case _                             => None
  }

  private def within(e: Expression)(child: Expression): Expression =
    e.withNewChildren(Seq(child))

  private def quotient(distance: SubtractTimestamps, micros: Long): Option[Chain] =
    Some(
      Chain(
        distance,
        Literal(_, DayTimeIntervalType()),
        x => IntegralDivide(x, Literal(micros))
      )
    )

  private def isWhole(e: Expression): Boolean = e.dataType.isInstanceOf[IntegralType]

  private def isDouble(e: Expression): Boolean = e.dataType == DoubleType

  private def positive(e: Expression): Boolean = e.foldable && Try(e.eval()).toOption.exists {
    case d: Double => d > 0 && !d.isInfinite
    case n: Number => n.longValue > 0
    case _         => false
  }

  /** The greatest number at which a predicate holds that holds up to there; none if it never does. */
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
