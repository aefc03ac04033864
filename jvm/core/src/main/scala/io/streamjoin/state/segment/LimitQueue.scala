package io.streamjoin.state.segment

import java.util.{Arrays, Comparator}

/** Rows in ascending order of a limit, to be taken from the front. */
private[segment] final class LimitQueue private (rows: Array[Int]) {
  private var taken = 0

  def nonEmpty: Boolean = taken < rows.length

  def head: Int = rows(taken)

  def drop(): Unit = taken += 1
}

private[segment] object LimitQueue {
  private val RowBits = 24

  def of(count: Int, limit: Int => Long): LimitQueue = {
    var (least, greatest) = (Long.MaxValue, Long.MinValue)
    for (i <- 0 until count) {
      least = math.min(least, limit(i))
      greatest = math.max(greatest, limit(i))
    }
    val span = greatest - least
    // packs the distance from the least limit and the row into one number, if they fit
    val fits = span >= 0 && span < (1L << (63 - RowBits)) && count < (1 << RowBits)
    new LimitQueue(if (fits) packed(count, limit, least) else boxed(count, limit))
  }

  private def packed(count: Int, limit: Int => Long, least: Long): Array[Int] = {
    val order = Array.tabulate(count)(i => (limit(i) - least) << RowBits | i)
    Arrays.sort(order)
    order.map(n => (n & ((1L << RowBits) - 1)).toInt)
  }

  private def boxed(count: Int, limit: Int => Long): Array[Int] = {
    val order = Array.tabulate(count)(Integer.valueOf)
    Arrays.sort(order, Comparator.comparingLong[Integer](i => limit(i)))
    order.map(_.intValue)
  }
}
