package io.streamjoin.state.segment.index

import java.util.{Arrays, BitSet}

import io.streamjoin.state.segment.pages.RowPages

/**
 * Limits of the rows of one segment: the least of each in every block of adjacent rows, and the
 * least and the greatest of all. They stay in memory while the rows are on the disk.
 *
 * An eviction visits the rows of the blocks whose least limit is below the watermark. The other
 * blocks cost a comparison each.
 *
 * A block is stale when its least limit may belong to a row that is not live any more, or when a
 * deleted row is live again. Its rows are read before its limits are needed next.
 *
 * Example, with blocks of two rows:
 *
 * {{{
 *   rows                          10:03  10:14    10:07  10:09
 *   least of each block           10:03           10:07
 *   the watermark is 10:05        the first row is evicted, and its block is stale
 *   the watermark is 10:06        10:14           10:07          no block is visited
 * }}}
 *
 * @param watched how many numbers a row has behind its limits, of which only the least is
 *   required
 */
private[segment] final class SegmentLimits(rows: RowPages, limitCount: Int, watched: Int) {
  import SegmentLimits._

  private val numberCount = limitCount + watched

  /** The least number `k` of the live rows of block `b`, at `b * numberCount + k`. */
  private var blocks = Array.emptyLongArray
  private val leastOfAll = Array.fill(numberCount)(Long.MaxValue)
  private val greatest = Array.fill(limitCount)(Long.MinValue)
  private val stale = new BitSet

  /** The row at which the search of an eviction continues. */
  private var searchFrom = 0

  /** A row with these numbers was appended. */
  def add(i: Int, numbers: Array[Long]): Unit = {
    makeRoom(i / BlockRows)
    var k = 0
    while (k < numberCount) {
      lower(i / BlockRows, k, numbers(k))
      leastOfAll(k) = math.min(leastOfAll(k), numbers(k))
      if (k < limitCount) greatest(k) = math.max(greatest(k), numbers(k))
      k += 1
    }
  }

  /** A row was deleted. */
  def remove(i: Int): Unit = if (!stale.get(i / BlockRows) && isLeastOfBlock(i)) setStale(i)

  /** The block of the row has other live rows than before. */
  def setStale(i: Int): Unit = stale.set(i / BlockRows)

  private def isLeastOfBlock(i: Int): Boolean = {
    rows.show(i)
    var k = 0
    while (k < numberCount) {
      if (rows.limit(i, k) <= blocks(place(i / BlockRows, k))) return true
      k += 1
    }
    false
  }

  /** Whether some limit of every row is known to be below its watermark. */
  def allBelow(watermarks: Array[Long]): Boolean = isBelow(greatest, watermarks)

  /** Whether some limit of some row is below its watermark. */
  def someBelow(watermarks: Array[Long]): Boolean = {
    renew()
    isBelow(leastOfAll, watermarks)
  }

  /** The next live row whose limit is below the watermark, or -1. It can be read afterwards. */
  def nextBelow(k: Int, watermark: Long): Int = {
    var i = searchFrom
    while (i < rows.length) {
      if (i % BlockRows == 0 && blocks(place(i / BlockRows, k)) >= watermark) i += BlockRows
      else {
        if (isLive(i) && rows.limit(i, k) < watermark) {
          searchFrom = i + 1
          return i
        }
        i += 1
      }
    }
    searchFrom = 0
    -1
  }

  /** The next search begins at the first row. */
  def rewind(): Unit = searchFrom = 0

  /** The least number `k` of the live rows; `Long.MaxValue` if there are none. */
  def least(k: Int): Long = {
    renew()
    leastOfAll(k)
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

  private def renew(): Unit = if (!stale.isEmpty) {
    var block = stale.nextSetBit(0)
    while (block >= 0) {
      readBlock(block)
      block = stale.nextSetBit(block + 1)
    }
    stale.clear()
    for (k <- 0 until numberCount) leastOfAll(k) = leastOfBlocks(k)
  }

  private def leastOfBlocks(k: Int): Long = {
    var found = Long.MaxValue
    var at = k
    while (at < blocks.length) {
      found = math.min(found, blocks(at))
      at += numberCount
    }
    found
  }

  private def readBlock(block: Int): Unit = {
    Arrays.fill(blocks, place(block, 0), place(block + 1, 0), Long.MaxValue)
    val end = math.min(rows.length, (block + 1) * BlockRows)
    var i = block * BlockRows
    while (i < end) {
      if (isLive(i)) {
        var k = 0
        while (k < numberCount) {
          lower(block, k, rows.limit(i, k))
          k += 1
        }
      }
      i += 1
    }
  }

  /** Whether a row is live; if so, it can be read afterwards. */
  private def isLive(i: Int): Boolean = {
    val live = !rows.isDeleted(i)
    if (live) rows.show(i)
    live
  }

  private def lower(block: Int, k: Int, number: Long): Unit = {
    val at = place(block, k)
    blocks(at) = math.min(blocks(at), number)
  }

  private def place(block: Int, k: Int): Int = block * numberCount + k

  private def makeRoom(block: Int): Unit = {
    val before = blocks.length
    if (place(block + 1, 0) > before) {
      blocks = Arrays.copyOf(blocks, math.max(place(block + 1, 0), before * 2))
      Arrays.fill(blocks, before, blocks.length, Long.MaxValue)
    }
  }

  /** Bytes in memory. */
  def allocated: Long = blocks.length * 8L + stale.size / 8
}

private[segment] object SegmentLimits {

  /** Whether some limit is below its watermark. */
  def isBelow(limits: Array[Long], watermarks: Array[Long]): Boolean = {
    var k = 0
    while (k < watermarks.length) {
      if (limits(k) < watermarks(k)) return true
      k += 1
    }
    false
  }

  /**
   * Rows of a block. A row that is evicted among others that stay costs two visits of its block,
   * and each block costs a number for each limit.
   */
  private final val BlockRows = 16
}
