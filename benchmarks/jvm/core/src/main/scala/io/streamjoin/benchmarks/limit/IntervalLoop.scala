package io.streamjoin.benchmarks.limit

/** Output of an [[IntervalLoop]]. */
trait Pairs {
  def pair(left: Long, second: Long, right: Long): Unit

  /** A left row that is evicted unmatched. */
  def alone(left: Long, second: Long): Unit
}

/**
 * Left rows that match from `low` to `high`, right rows at one time: a pair has equal keys and
 * `low <= time <= high`. A row is looked up, matched and stored in arrays; stored rows go by buckets
 * of time.
 *
 * @param bucket width of a bucket in milliseconds
 * @param slack by how much `low` may be below the left watermark
 */
final class IntervalLoop(bucket: Long, out: Pairs, slack: Long = 0) {
  private val lefts = new Buckets(bucket)
  private val rights = new Buckets(bucket)
  private var (leftMark, rightMark) = (Long.MinValue, Long.MinValue)
  private var longest = 0L

  def bufferedRows: Long = lefts.rows + rights.rows
  def bufferedBytes: Long = lefts.bytes + rights.bytes

  def left(
      key: Long,
      low: Long,
      high: Long,
      id: Long,
      second: Long,
      leftWatermark: Long
  ): Unit = {
    longest = math.max(longest, high - low)
    var matched = false
    var n = math.max(rights.firstNumber, rights.numberOf(low))
    val last = math.min(rights.lastNumber, rights.numberOf(high))
    while (n <= last) {
      val b = rights.bucket(n)
      if (b != null) {
        var r = b.head(key)
        while (r >= 0) {
          if (b.keys(r) == key && b.highs(r) >= low && b.highs(r) <= high) {
            out.pair(id, second, b.ids(r))
            matched = true
          }
          r = b.next(r)
        }
      }
      n += 1
    }
    if (high >= rightMark) lefts.add(key, low, high, id, second, matched)
    else if (!matched) out.alone(id, second)
    if (leftWatermark > leftMark) {
      leftMark = leftWatermark
      rights.evict(leftMark - slack)(_ => ())
    }
  }

  def right(key: Long, time: Long, id: Long, rightWatermark: Long): Unit = {
    var n = math.max(lefts.firstNumber, lefts.numberOf(time))
    val last = math.min(lefts.lastNumber, lefts.numberOf(time + longest))
    while (n <= last) {
      val b = lefts.bucket(n)
      if (b != null) {
        var l = b.head(key)
        while (l >= 0) {
          if (b.keys(l) == key && b.lows(l) <= time && time <= b.highs(l)) {
            out.pair(b.ids(l), b.seconds(l), id)
            b.matched(l) = true
          }
          l = b.next(l)
        }
      }
      n += 1
    }
    if (time >= leftMark - slack) rights.add(key, time, time, id, 0, matched = false)
    if (rightWatermark > rightMark) {
      rightMark = rightWatermark
      lefts.evict(rightMark)(giveUnmatched)
    }
  }

  private def giveUnmatched(gone: Bucket): Unit = {
    var l = 0
    while (l < gone.size) {
      if (!gone.matched(l)) out.alone(gone.ids(l), gone.seconds(l))
      l += 1
    }
  }
}
