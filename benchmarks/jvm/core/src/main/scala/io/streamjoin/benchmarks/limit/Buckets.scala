package io.streamjoin.benchmarks.limit

/**
 * The rows of one side, in buckets of the last time at which they can match. A bucket is evicted as
 * a whole, once the watermark has passed all of it.
 */
private[limit] final class Buckets(width: Long) {
  private var ring = new Array[Bucket](16)
  private var free = List.empty[Bucket]
  private var (first, last) = (0L, -1L)
  private var (rowCount, byteCount) = (0L, 0L)

  def rows: Long = rowCount
  def bytes: Long = byteCount

  def numberOf(time: Long): Long = Math.floorDiv(time, width)
  def firstNumber: Long = first
  def lastNumber: Long = last

  /** NULL where there is none. */
  def bucket(number: Long): Bucket = ring(index(number))

  def add(key: Long, low: Long, high: Long, id: Long, second: Long, matched: Boolean): Unit = {
    val number = numberOf(high)
    include(number)
    var found = bucket(number)
    if (found == null) {
      found = free.headOption.getOrElse(new Bucket)
      free = free.drop(1)
      byteCount += found.bytes
      ring(index(number)) = found
    }
    val before = found.bytes
    found.add(key, low, high, id, second, matched)
    byteCount += found.bytes - before
    rowCount += 1
  }

  /** Drops the buckets that are wholly below the watermark. */
  def evict(watermark: Long)(gone: Bucket => Unit): Unit =
    while (first <= last && (first + 1) * width <= watermark) {
      val old = bucket(first)
      if (old != null) {
        gone(old)
        rowCount -= old.size
        byteCount -= old.bytes
        old.clear()
        if (free.isEmpty) free = List(old)
        ring(index(first)) = null
      }
      first += 1
    }

  private def index(number: Long): Int = (number & (ring.length - 1)).toInt

  private def include(number: Long): Unit = {
    if (last < first) {
      first = number
      last = number
    }
    val (newFirst, newLast) = (math.min(first, number), math.max(last, number))
    while (newLast - newFirst >= ring.length) {
      val old = ring
      ring = new Array[Bucket](old.length * 2)
      for (n <- first to last) ring(index(n)) = old((n & (old.length - 1)).toInt)
    }
    first = newFirst
    last = newLast
  }
}
