package io.streamjoin.benchmarks.limit

/** Rows that go at about the same time: columns of primitives, chained by key. */
private[limit] final class Bucket {
  var size = 0
  var keys = new Array[Long](Bucket.Least)
  var lows = new Array[Long](Bucket.Least)
  var highs = new Array[Long](Bucket.Least)
  var ids = new Array[Long](Bucket.Least)
  var seconds = new Array[Long](Bucket.Least)
  var matched = new Array[Boolean](Bucket.Least)
  var next = new Array[Int](Bucket.Least)
  private var heads = Array.fill(Bucket.Least)(-1)

  /** The newest row whose key may be this one; the others follow by `next`. */
  def head(key: Long): Int = heads(slot(key))

  def add(key: Long, low: Long, high: Long, id: Long, second: Long, isMatched: Boolean): Unit = {
    if (size == keys.length) grow()
    keys(size) = key
    lows(size) = low
    highs(size) = high
    ids(size) = id
    seconds(size) = second
    matched(size) = isMatched
    link(size)
    size += 1
  }

  def clear(): Unit = {
    size = 0
    java.util.Arrays.fill(heads, -1)
  }

  def bytes: Long = keys.length * 49L

  private def slot(key: Long): Int = {
    val h = key * 0x9e3779b97f4a7c15L
    (h >>> 32).toInt & (heads.length - 1)
  }

  private def link(row: Int): Unit = {
    val s = slot(keys(row))
    next(row) = heads(s)
    heads(s) = row
  }

  private def grow(): Unit = {
    val more = keys.length * 2
    keys = java.util.Arrays.copyOf(keys, more)
    lows = java.util.Arrays.copyOf(lows, more)
    highs = java.util.Arrays.copyOf(highs, more)
    ids = java.util.Arrays.copyOf(ids, more)
    seconds = java.util.Arrays.copyOf(seconds, more)
    matched = java.util.Arrays.copyOf(matched, more)
    next = java.util.Arrays.copyOf(next, more)
    heads = Array.fill(more)(-1)
    var row = 0
    while (row < size) {
      link(row)
      row += 1
    }
  }
}

private[limit] object Bucket {
  private val Least = 64
}
