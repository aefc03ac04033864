package io.streamjoin.join.eventtime

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.{BySide, Side, Watermarks}

/**
 * Sketch of the heaviest keys of one task in a batch, with the range of their times and the
 * latest times of both inputs.
 *
 * It samples about one row in 16. The gaps are random: keys that take turns would otherwise all
 * fall on one. A key with more than one in [[KeyLoad.Counters]] of the rows is among the keys
 * that are left.
 *
 * Source: Misra and Gries, "Finding repeated elements".
 *
 * @param latestBefore by side, the latest time of earlier batches, or `Watermarks.Unknown`
 */
final class KeyLoad(latestBefore: BySide[Long]) {
  import KeyLoad._

  private var rows = 0L
  private var (left, right) = (latestBefore.left, latestBefore.right)

  private val keys = new Array[Long](Counters)
  private val sampled = new Array[Long](Counters)
  private val (first, last) = (Array.fill(2)(Long.MaxValue), Array.fill(2)(Long.MinValue))
  private var state = Seed
  private var untilNext = 1

  /** Counts a row that may match. */
  def see(side: Side, key: Long, time: Long, replica: Boolean): Unit = {
    if (side == Side.Left) { if (time > left) left = time }
    else if (time > right) right = time
    if (!replica) {
      rows += 1
      untilNext -= 1
      if (untilNext == 0) {
        untilNext = gap()
        sample(key)
        spread(side.index, time)
      }
    }
  }

  /** The number of rows counted, without replicas. */
  def seen: Long = rows

  /** By side, the latest time of a row, of this batch or an earlier one. */
  def latest: BySide[Long] = BySide(left, right)

  /** Approximate rows of the heaviest keys, by hash; rather too low. */
  def heaviest: Map[Long, Long] =
    (for (i <- keys.indices if sampled(i) > 0) yield keys(i) -> sampled(i) * MeanGap).toMap

  /** The range of the times of one input in this batch, of the input with the larger range. */
  def span: Long = Side.both.map(_.index).map { side =>
    if (first(side) > last(side)) 0L else Saturated.subtract(last(side), first(side))
  }.max

  def report(partition: Int): TaskLoad = TaskLoad(partition, seen, heaviest, span, latest)

  private def spread(side: Int, time: Long): Unit = {
    first(side) = math.min(first(side), time)
    last(side) = math.max(last(side), time)
  }

  private def sample(key: Long): Unit = {
    var free = -1
    var i = 0
    while (i < Counters) {
      if (sampled(i) == 0) free = i
      else if (keys(i) == key) {
        sampled(i) += 1
        return
      }
      i += 1
    }
    if (free >= 0) {
      keys(free) = key
      sampled(free) = 1
    } else {
      for (j <- sampled.indices) sampled(j) -= 1
    }
  }

  /** From 1 to twice the mean less one. Source: Marsaglia, "Xorshift RNGs". */
  private def gap(): Int = {
    state ^= state << 13
    state ^= state >>> 7
    state ^= state << 17
    1 + Math.floorMod(state >>> 16, 2L * MeanGap - 1).toInt
  }
}

object KeyLoad {

  /** Keys that are counted at a time. */
  val Counters: Int = 16

  /** Rows for each sampled row, on average. */
  val MeanGap: Int = 16

  private val Seed = 0x9e3779b97f4a7c15L

  /** The load of a task without rows. */
  def empty: KeyLoad = new KeyLoad(BySide(Watermarks.Unknown, Watermarks.Unknown))
}
