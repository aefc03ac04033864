package io.streamjoin.bounds

/**
 * Saturating arithmetic on times and distances: it stops at the ends of the range of `Long`. An
 * overflow must give no bound, never a tighter one.
 *
 * Rule R32 of `docs/internals/rules.md`.
 */
object Saturated {

  def add(a: Long, b: Long): Long = {
    val sum = a + b
    if (((a ^ sum) & (b ^ sum)) < 0) if (a < 0) Long.MinValue else Long.MaxValue
    else sum
  }

  def subtract(a: Long, b: Long): Long = {
    val difference = a - b
    if (((a ^ b) & (a ^ difference)) < 0) if (a < 0) Long.MinValue else Long.MaxValue
    else difference
  }

  def multiply(a: Long, b: Long): Long = {
    val high = Math.multiplyHigh(a, b)
    val low = a * b
    if ((high == 0 && low >= 0) || (high == -1 && low < 0)) low
    else if (high < 0) Long.MinValue
    else Long.MaxValue
  }

  /** The quotient, rounded up. It is in range, since the divisor is more than 1. */
  def divideUp(a: Long, divisor: Long): Long =
    Math.floorDiv(a, divisor) + (if (Math.floorMod(a, divisor) == 0) 0 else 1)

  /** Whether a distance of at most [[OrdinaryDistance]] can be added to the time without overflow. */
  def isOrdinary(time: Long): Boolean = time > -OrdinaryDistance && time < OrdinaryDistance

  /** In microseconds, some 73,000 years. */
  val OrdinaryDistance: Long = 1L << 61
}
