package io.streamjoin.join.asof

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.{Side, Watermarks}

/**
 * How far apart in time the rows of an as-of join are.
 *
 * {{{
 *        p.time - tolerance        p.time + reach
 *               |                        |
 *               [  build rows of the key ]   the last of these is the one
 * }}}
 *
 * Rules R21 to R24 of `docs/internals/rules.md`.
 *
 * @param probe the side whose rows each look for the last ones of the other
 * @param count how many of the last rows a probe row meets, 1 or more
 * @param reach up to where, after the probe row's own time; mostly 0
 * @param tolerance how much earlier than the probe row a match is at most; none: of any age
 */
final case class AsOfBounds(probe: Side, count: Int, reach: Long, tolerance: Option[Long]) {

  def build: Side = probe.other

  /** The time by which a row is settled: when the limit has passed it, its result, or its rank, is known. */
  def due(side: Side, time: Long): Long = if (side == probe) Saturated.add(time, reach) else time

  /**
   * The time below which everything is known: no row of it will come on either side.
   *
   * @param received the watermark of each side
   */
  def limit(received: Side => Long): Long =
    if (Side.both.exists(received(_) == Watermarks.Unknown)) Watermarks.Unknown
    else math.min(due(probe, received(probe)), received(build))

  /**
   * The limit with which a row goes from where it is kept.
   *
   * @param settled whether it is a build row that has passed by, and is among the last of its key
   */
  def evictionLimit(side: Side, time: Long, settled: Boolean): Long =
    if (settled) expiry(time) else due(side, time)

  /** The limit above which a build row is too old even if it is the last of its key. */
  def expiry(time: Long): Long =
    tolerance.fold(Long.MaxValue)(t => Saturated.add(time, Saturated.add(t, reach)))
}
