package io.streamjoin.state.segment

import java.util.{Arrays, Comparator}

/**
 * Limits of the rows of one segment: the least and the greatest of each, and the rows in order
 * of a limit.
 *
 * An eviction requires the rows whose limit is below a watermark. Rows in memory are taken from
 * a queue, which is sorted when it is first needed after an append. Rows on the disk are read
 * page by page, without the pages whose least limit is not below the watermark.
 *
 * Example: the limits are 10:03, 10:14 and 10:07. At watermark 10:05 the queue is sorted, and
 * the eviction takes the first row. The least limit is now 10:07. At watermark 10:06 it takes
 * nothing, and compares one number.
 *
 * @param watched how many numbers a row has behind its limits, of which only the least is
 *   required
 */
private[segment] final class SegmentLimits(rows: RowPages, limitCount: Int, watched: Int) {
  private val numberCount = limitCount + watched

  private val leastLimit = Array.fill(numberCount)(Long.MaxValue)
  private val leastRow = Array.fill(numberCount)(-1)
  private val greatestLimit = Array.fill(limitCount)(Long.MinValue)
  private val queues = new Array[LimitQueue](numberCount)

  /** The row at which the scan of the disk continues. */
  private var scanFrom = 0

  /** Takes in the limits of an appended row. */
  def add(i: Int, of: Array[Long]): Unit = {
    var k = 0
    while (k < numberCount) {
      if (of(k) < leastLimit(k)) {
        leastLimit(k) = of(k)
        leastRow(k) = i
      }
      if (k < limitCount) greatestLimit(k) = math.max(greatestLimit(k), of(k))
      queues(k) = null
      k += 1
    }
  }

  /** Whether some limit of every row is known to be below its watermark. */
  def allBelow(watermarks: Array[Long]): Boolean = {
    var k = 0
    while (k < limitCount) {
      if (greatestLimit(k) < watermarks(k)) return true
      k += 1
    }
    false
  }

  /** Whether some limit of some row may be below its watermark. */
  def mayBeBelow(watermarks: Array[Long]): Boolean = {
    var k = 0
    while (k < limitCount) {
      if ((if (rows.areSpilled) rows.leastSpilled(k) else leastLimit(k)) < watermarks(k))
        return true
      k += 1
    }
    false
  }

  /**
   * The next live row whose limit is below the watermark, or -1. The cost is that of the rows below
   * the watermark, and of one sort after rows have been appended.
   */
  def nextBelow(k: Int, watermark: Long): Int = {
    val queue = queueOf(k)
    while (queue.nonEmpty && rows.limit(queue.head, k) < watermark) {
      val i = queue.head
      queue.drop()
      if (!rows.isDeleted(i)) return i
    }
    leastLimit(k) = if (queue.nonEmpty) rows.limit(queue.head, k) else Long.MaxValue
    -1
  }

  /** The same for rows on the disk: it reads the pages that have such rows. */
  def nextSpilledBelow(k: Int, watermark: Long): Int = {
    val i = rows.nextSpilledBelow(scanFrom, k, watermark)
    scanFrom = i + 1
    i
  }

  /** The next scan of the disk begins at the first row. */
  def rewind(): Unit = scanFrom = 0

  /** The least number `k` of the live rows, of which there is one. */
  def least(k: Int): Long =
    if (rows.areSpilled) rows.leastSpilled(k)
    else {
      if (!isLeast(leastRow(k), k)) {
        val queue = queueOf(k)
        while (rows.isDeleted(queue.head)) queue.drop()
        leastRow(k) = queue.head
        leastLimit(k) = rows.limit(queue.head, k)
      }
      leastLimit(k)
    }

  /** The least number `k` of live rows in memory that have not been joined. */
  def leastUnmatched(k: Int): Long = {
    var found = Long.MaxValue
    var i = 0
    while (i < rows.length) {
      if (!rows.isDeleted(i) && !rows.isMatched(i)) found = math.min(found, rows.limit(i, k))
      i += 1
    }
    found
  }

  private def isLeast(i: Int, k: Int): Boolean =
    i >= 0 && i < rows.length && !rows.isDeleted(i) && rows.limit(i, k) == leastLimit(k)

  private def queueOf(k: Int): LimitQueue = {
    if (queues(k) == null) queues(k) = LimitQueue.of(rows.length, rows.limit(_, k))
    queues(k)
  }

  /** Rows have other numbers, or go to the disk: the queues are sorted anew when needed. */
  def dropQueues(): Unit = Arrays.fill(queues.asInstanceOf[Array[AnyRef]], null)

  /** Deleted rows may be live again: a bound that is too low makes an eviction search for them. */
  def undo(): Unit = {
    Arrays.fill(leastLimit, Long.MinValue)
    dropQueues()
  }

  /** Takes over the least limits of the rows on the disk, which are about to be recalled. */
  def recall(): Unit = for (k <- leastLimit.indices) leastLimit(k) = rows.leastSpilled(k)
}

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
