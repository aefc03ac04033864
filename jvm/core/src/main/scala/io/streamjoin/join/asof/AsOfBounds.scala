package io.streamjoin.join.asof

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.watermark.WatermarkPlan

/**
 * Time bounds of an as-of join.
 *
 * {{{
 *        p.time - tolerance        p.time + reach
 *               |                        |
 *               [  build rows of the key ]   the last of these matches
 * }}}
 *
 * Rules R21 to R24 of `docs/internals/rules.md`.
 *
 * @param probe the side whose rows each match the last ones of the other
 * @param count how many of the last rows a probe row matches, 1 or more
 * @param reach up to where after its own time a probe row matches; mostly 0
 * @param tolerance how much earlier than the probe row a match is at most; none: of any age
 */
final case class AsOfBounds(probe: Side, count: Int, reach: Long, tolerance: Option[Long]) {

  def build: Side = probe.other

  /**
   * The time at which a row is due: when the limit has passed it, its result, or its rank, is
   * final.
   */
  def due(side: Side, time: Long): Long = if (side == probe) Saturated.add(time, reach) else time

  /**
   * The time below which both sides are complete.
   *
   * @param received the watermark of each side
   */
  def limit(received: Side => Long): Long =
    if (Side.both.exists(received(_) == Watermarks.Unknown)) Watermarks.Unknown
    else math.min(due(probe, received(probe)), received(build))

  /** The same by plans of the watermarks below the join. */
  def limitPlan(received: Side => WatermarkPlan): WatermarkPlan = WatermarkPlan.AsOfLimit(
    Seq(WatermarkPlan.Shifted(received(probe), reach), received(build))
  )

  /**
   * The watermark of a side's time in the output; none if a match may be of any age. A probe row is
   * emitted when the limit has passed it.
   */
  def outputWatermark(side: Side, limit: WatermarkPlan): Option[WatermarkPlan] =
    (if (side == probe) Some(0L) else tolerance)
      .map(older => WatermarkPlan.Shifted(limit, -reach - older))

  /**
   * The limit of the row in the state.
   *
   * @param settled whether it is a build row that was due, and is among the last of its key
   */
  def evictionLimit(side: Side, time: Long, settled: Boolean): Long =
    if (settled) expiry(time) else due(side, time)

  /** The limit above which a build row is too old, even as the last of its key. */
  def expiry(time: Long): Long =
    tolerance.fold(Long.MaxValue)(t => Saturated.add(time, Saturated.add(t, reach)))
}
