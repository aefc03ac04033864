package io.streamjoin.state.segment

/**
 * Index of segments by time. The segments are in the order of their limits, and times mostly
 * ascend with limits, so a probe visits few segments of many.
 *
 * It is computed on demand: a batch appends all rows of a side before it probes them.
 */
private[segment] final class TimeRanges {
  private var greatestUntil = Array.emptyLongArray
  private var leastFrom = Array.emptyLongArray
  private var known = 0

  /** Takes over segments that have changed. */
  def gather(segments: Array[Segment], count: Int): Unit = {
    if (greatestUntil.length < count) {
      greatestUntil = new Array[Long](segments.length)
      leastFrom = new Array[Long](segments.length)
    }
    known = count
    var greatest = Long.MinValue
    for (s <- 0 until count) {
      greatest = math.max(greatest, segments(s).greatestTime)
      greatestUntil(s) = greatest
    }
    var least = Long.MaxValue
    for (s <- count - 1 to 0 by -1) {
      least = math.min(least, segments(s).leastTime)
      leastFrom(s) = least
    }
  }

  /** The first segment that may have a row of this time or later; those before have none. */
  def first(time: Long): Int = {
    var low = 0
    var high = known
    while (low < high) {
      val middle = (low + high) >>> 1
      if (greatestUntil(middle) < time) low = middle + 1 else high = middle
    }
    low
  }

  /** Whether this segment or a later one may have a row of this time or earlier. */
  def goesOn(segment: Int, time: Long): Boolean = segment < known && leastFrom(segment) <= time
}
