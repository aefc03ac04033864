package io.streamjoin.bounds

import io.streamjoin.model.Side

/**
 * [[JoinBounds]] of single rows of one input, with the distances in arrays. It computes when a
 * buffered row is evicted, and which rows of the other side a row can match.
 *
 * {{{
 *   buffered row of this side                 row of this side that probes
 *     limit(0): evicted when W > limit          [from, to] of the other side's probe column
 * }}}
 *
 * Example, `d.time BETWEEN o.time - 1 hour AND o.time + 3 hours`:
 *
 * {{{
 *   order    12:00   limit 15:00 of W(deliveries); probes deliveries in [11:00, 15:00]
 *   delivery 12:00   limit 13:00 of W(orders);     probes orders in     [09:00, 13:00]
 * }}}
 *
 * Rules R2 and R6 to R8 of `docs/internals/rules.md`.
 *
 * Source: Hazelcast, "Stream to stream JOIN".
 */
final class RowBounds(bounds: JoinBounds, side: Side) extends Serializable {

  import JoinBounds.Unbounded

  private val own: Array[Int] = bounds.indices(side).toArray
  private val required: Array[Int] = own.filter(bounds.constrained)
  private val ofSource: Array[Int] = required.filterNot(bounds.columns(_).padded)

  /** The event-time columns of the side. */
  val watermarked: Array[Int] = bounds.watermarked(side).toArray

  private val filters: Array[TimeBound] =
    for (i <- own; j <- own if i != j && bounds.slack(i, j) != Unbounded)
      yield TimeBound(i, j, bounds.slack(i, j))

  private val limiting: Array[Int] = bounds.limiting(side).toArray

  private val limits: Array[Array[TimeBound]] = limiting.map { b =>
    own.filter(bounds.slack(_, b) != Unbounded).map(a => TimeBound(a, b, bounds.slack(a, b)))
  }

  private val probed: Int = bounds.probeColumn(side)
  private val target: Int = bounds.probeColumn(side.other)

  private val lower: Array[TimeBound] =
    own.filter(bounds.slack(target, _) != Unbounded).map(a =>
      TimeBound(target, a, bounds.slack(target, a))
    )

  private val upper: Array[TimeBound] =
    own.filter(bounds.slack(_, target) != Unbounded).map(a =>
      TimeBound(a, target, bounds.slack(a, target))
    )

  /**
   * The number of limits of a buffered row: one for each column of the other input that evicts
   * it.
   */
  def limitCount: Int = limiting.length

  /** The column of the other input whose watermark is compared with limit `k`. */
  def limitColumn(k: Int): Int = limiting(k)

  /** The row is evicted when the watermark of `limitColumn(k)` is above this. */
  def limit(times: RowTimes, k: Int): Long = least(limits(k), times)

  /** The least of the times plus their slacks. */
  private def least(terms: Array[TimeBound], times: RowTimes): Long = {
    var least = Long.MaxValue
    var i = 0
    while (i < terms.length) {
      val t = terms(i)
      if (!times.isNull(t.later)) least = math.min(least, Saturated.add(times(t.later), t.slack))
      i += 1
    }
    least
  }

  /** All limits of the row. */
  def limits(times: RowTimes, into: Array[Long]): Unit = {
    var k = 0
    while (k < limiting.length) {
      into(k) = limit(times, k)
      k += 1
    }
  }

  /** Whether a row with these limits can still match a row that is not late by these watermarks. */
  def survives(limits: Array[Long], watermarks: Array[Long]): Boolean = {
    var k = 0
    while (k < limiting.length) {
      if (limits(k) < watermarks(limiting(k))) return false
      k += 1
    }
    true
  }

  /**
   * The first of its event-time columns that is strictly below its watermark, or -1 if the row
   * is not late. A null time is never late.
   */
  def lateBy(times: RowTimes, watermarks: Array[Long]): Int = {
    var i = 0
    while (i < watermarked.length) {
      val c = watermarked(i)
      if (!times.isNull(c) && times(c) < watermarks(c)) return c
      i += 1
    }
    -1
  }

  /** Whether a time of the condition is null: the row matches nothing. */
  def lacksTime(times: RowTimes): Boolean = anyNull(required, times)

  /** Whether such a time is null in the source, not padded by a join below. */
  def lacksSourceTime(times: RowTimes): Boolean = anyNull(ofSource, times)

  private def anyNull(columns: Array[Int], times: RowTimes): Boolean = {
    var i = 0
    while (i < columns.length) {
      if (times.isNull(columns(i))) return true
      i += 1
    }
    false
  }

  /** Whether the row satisfies the bounds between its own times. */
  def consistent(times: RowTimes): Boolean = {
    var i = 0
    while (i < filters.length) {
      val f = filters(i)
      if (
        !times.isNull(f.later) && !times.isNull(f.earlier) &&
        times(f.later) < Saturated.subtract(times(f.earlier), f.slack)
      ) {
        return false
      }
      i += 1
    }
    true
  }

  /** Whether it has the time by which a probe would find it. */
  def hasProbeTime(times: RowTimes): Boolean = !times.isNull(probed)

  /** The time by which a probe finds the buffered row. */
  def probeTime(times: RowTimes): Long = times(probed)

  /** The least probe time of a row of the other input that could match. */
  def probeFrom(times: RowTimes): Long = {
    var from = Long.MinValue
    var i = 0
    while (i < lower.length) {
      val t = lower(i)
      if (!times.isNull(t.earlier)) {
        from = math.max(from, Saturated.subtract(times(t.earlier), t.slack))
      }
      i += 1
    }
    from
  }

  /** The greatest probe time of a row of the other input that could match. */
  def probeTo(times: RowTimes): Long = least(upper, times)
}
