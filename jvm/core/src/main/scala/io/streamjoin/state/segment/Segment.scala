package io.streamjoin.state.segment

import java.util.Arrays
import java.util.function.IntConsumer

import io.streamjoin.state.segment.index._
import io.streamjoin.state.segment.pages._

/**
 * Segment: buffered rows of one side whose first limits are in one range, with an index by key.
 * Rows that are evicted at the same time are in one segment, and an eviction drops it as a
 * whole.
 *
 * {{{
 *   index   slot of a key -> newest row -> older row -> ...
 *   row i   key, time, older and flags, place --> bytes, id, limits...
 * }}}
 *
 * The first probe builds the index, of all rows at once. A segment whose index is full drops
 * it, and the next probe builds a larger one. So a batch that appends many rows pays for one
 * index, and a restart pays for none until a probe arrives.
 *
 * Rows are numbered in arrival order. A deleted row is marked. When no version can restore it,
 * its number and its bytes are reused. The rows of a segment that is half empty are moved to
 * another. A segment that is never evicted therefore stays as large as its live rows.
 *
 * When memory is short, the numbers and the index are spilled to the disk, as the bytes of rows
 * are. The range of times and the least limits stay in memory, so most probes and evictions
 * skip the segment. A segment with many rows is searched on the disk ([[DiskIndex]]) until the
 * searches of one version have read twice what a recall would read. A segment with few rows is
 * recalled by the first probe.
 *
 * Example, with limits from 10:00 to 10:15:
 *
 * {{{
 *   10:01  rows A (limit 10:03) and B (limit 10:14) are appended; no index yet
 *   10:02  a probe builds the index, finds A and removes it
 *   10:03  the version is sealed: the number of A is free
 *   10:04  row C (limit 10:09) takes the number of A
 *   10:12  the watermark is 10:11: C is deleted; its number stays, for the segment is dropped soon
 *   10:16  the watermark is 10:15: the segment is dropped, with B
 * }}}
 *
 * @param low no first limit of its rows is lower
 * @param high no first limit of its rows is higher
 * @param timeIndex whether a probe finds rows by key and one time without a walk over the key
 * @param watched how many numbers a row has behind its limits, of which only the least is
 *   required
 */
private[segment] final class Segment(
    val low: Long,
    val high: Long,
    limitCount: Int,
    disk: SpilledBytes,
    timeIndex: Boolean = false,
    watched: Int = 0
) extends RowPages(limitCount + watched, disk) {
  import RowPages._
  import Segment._

  private var index: SegmentIndex = NoIndex
  private var closed = false
  private var released = false
  private val limits = new SegmentLimits(this, limitCount, watched)
  private val free = new FreeRows
  private var count = 0
  private var alive = 0

  private var least = Long.MaxValue
  private var greatest = Long.MinValue

  /** Versions that were sealed since the rows in memory were last used. */
  private var idle = 0

  val bytes: RowBytes = new RowBytes(disk)
  private var sealedCount = 0

  override def length: Int = count

  /** The number of rows that are not deleted. */
  def live: Int = alive

  /** Whether the row was appended since the last version was sealed. */
  def isFresh(i: Int): Boolean = i >= sealedCount || !areSpilled && has(i, Reused)

  /** Whether rows were appended since the last version was sealed. */
  def hasFresh: Boolean = count > sealedCount || free.taken > 0

  /** Visits the live rows that were appended since the last version was sealed. */
  def foreachFresh(visit: IntConsumer): Unit = {
    var n = 0
    while (n < free.taken) {
      if (!isDeleted(free.taken(n))) visit.accept(free.taken(n))
      n += 1
    }
    var i = sealedCount
    while (i < count) {
      if (!isDeleted(i)) visit.accept(i)
      i += 1
    }
  }

  /** No row ever had a lower time. */
  def leastTime: Long = least

  /** No row ever had a higher time. */
  def greatestTime: Long = greatest

  /** Whether a row may have a time in this range. */
  def mayContain(from: Long, to: Long): Boolean = least <= to && greatest >= from

  /** Whether some limit of every row is known to be below its watermark. */
  def allBelow(watermarks: Array[Long]): Boolean = limits.allBelow(watermarks)

  /** Whether some limit of some row is below its watermark. */
  def someBelow(watermarks: Array[Long]): Boolean = limits.someBelow(watermarks)

  /** The next live row whose limit is below the watermark, or -1. */
  def nextBelow(k: Int, watermark: Long): Int = {
    if (!areSpilled) use()
    limits.nextBelow(k, watermark)
  }

  /** The least limit `k` of the live rows, `Long.MaxValue` if there is none. */
  def least(k: Int): Long = limits.least(k)

  /** The same of rows that have not been joined, or of all rows while they are spilled. */
  def leastUnmatched(k: Int): Long = if (areSpilled) least(k) else limits.leastUnmatched(k)

  def append[R](
      key: Long,
      time: Long,
      limitsOfRow: Array[Long],
      row: R,
      codec: RowCodec[R],
      matched: Boolean,
      id: Long
  ): Unit = {
    use()
    val flags = (if (matched) Matched else 0L) | (if (timeIndex) 0L else ChainKind.OfTime.off)
    val i = if (free.nonEmpty) {
      val i = free.take()
      put(i, key, time, flags | Reused, bytes.replace(place(i), row, codec), id, limitsOfRow)
      i
    } else {
      if (count == MostRows) throw new IllegalStateException("too many rows in one segment")
      // the next probe builds a larger one
      if (index.isFull(count)) index = NoIndex
      put(count, key, time, flags, bytes.append(row, codec), id, limitsOfRow)
      count += 1
      count - 1
    }
    limits.add(i, limitsOfRow)
    least = math.min(least, time)
    greatest = math.max(greatest, time)
    index.add(i)
    alive += 1
  }

  def setDeleted(i: Int, deleted: Boolean): Unit = {
    setDeletedFlag(i, deleted)
    if (deleted) limits.remove(i) else limits.setStale(i)
    alive += (if (deleted) -1 else 1)
  }

  // ---- chains ----

  /**
   * The newest row of the chain of a hash, as its number plus one. 0: there is none.
   * [[OnDisk]]: the rows are to be [[search searched]].
   */
  def chain(hash: Int): Int = index match {
    case chains: ChainIndex if idle == 0               => chains.ofHash(hash)
    case search: SearchIndex if !isWorthRecall(search) => OnDisk
    case _                                             => chains().ofHash(hash)
  }

  /** The same of the hash of a key and a time, see [[ChainIndex.keyAndTime]]. */
  def timeChain(hash: Int): Int = chains().ofTime(hash)

  private def isWorthRecall(search: SearchIndex): Boolean =
    search.restartIfReadTwice(count) && disk.mayRecall(pagesSpilled)

  /** Visits the numbers of the live rows of a key and a range of times, on the disk. */
  def search(key: Long, hash: Int, from: Long, to: Long, found: IntConsumer): Unit =
    index match {
      case search: SearchIndex => search.search(this, key, hash, from, to, found)
      case _                   => ()
    }

  private def chains(): ChainIndex = {
    use()
    index match {
      case chains: ChainIndex => chains
      case _                  => buildIndex()
    }
  }

  /** The rows that can be undone are added last, in arrival order. */
  private def buildIndex(): ChainIndex = {
    val chains = new ChainIndex(this, count, timeIndex)
    var i = 0
    while (i < sealedCount) {
      if (!has(i, Reused)) chains.addAgain(i)
      i += 1
    }
    for (n <- 0 until free.taken) chains.add(free.taken(n))
    while (i < count) {
      chains.add(i)
      i += 1
    }
    index = chains
    chains
  }

  // ---- versions ----

  /** Bytes in memory. */
  def allocated: Long =
    OwnBytes + bytes.allocated + pagesAllocated + index.allocated + free.allocated + limits.allocated

  /** Of these, what [[spillNumbers]] would free. */
  def numberBytes: Long = pagesAllocated + index.allocated

  def seal(): Unit = {
    idle += 1
    index.seal()
    limits.rewind()
    for (n <- 0 until free.taken) setFlag(free.taken(n), Reused, on = false)
    free.seal()
    sealedCount = count
    bytes.seal()
  }

  /** Removes the rows that were appended since the last version was sealed. */
  def rollback(): Unit = {
    limits.rewind()
    if (!areSpilled) {
      while (count > sealedCount) {
        count -= 1
        undo(count)
      }
      bytes.rollback()
      for (n <- free.taken - 1 to 0 by -1) {
        val i = free.taken(n)
        undo(i)
        setLink(i, Deleted | ChainKind.OfKey.off | ChainKind.OfTime.off)
        if (!bytes.contains(place(i))) setPlace(i, RowBytes.Nowhere)
      }
      free.rollback()
    }
  }

  private def undo(i: Int): Unit = {
    alive -= 1
    limits.setStale(i)
    index.undo(i)
  }

  // ---- memory ----

  /**
   * Spills bytes of rows until so much memory is free or all are spilled. There must be no row
   * that can be undone.
   *
   * @return the bytes that were freed
   */
  def spill(wanted: Long): Long = {
    requireSealed()
    bytes.spill(wanted)
  }

  private def requireSealed(): Unit =
    if (hasFresh) throw new IllegalStateException("some rows can be undone")

  /** Whether its rows may be spilled because several versions did not use them. */
  def isIdle: Boolean = idle >= IdleVersions && count > FewRows && !areSpilled

  /** Whether its rows are in memory, and can be searched once they are spilled. */
  def canBeSearched: Boolean = !timeIndex && count >= disk.searchedFrom && !areSpilled

  /** Whether rows are searched on the disk. */
  def isSearched: Boolean = index.isInstanceOf[SearchIndex]

  /** Whether it takes no more rows. */
  def isClosed: Boolean = closed

  def close(): Unit = closed = true

  /**
   * Spills the numbers of the rows, and the index. There must be no row that can be undone.
   *
   * @return the bytes that were freed
   */
  def spillNumbers(): Long = {
    requireSealed()
    val before = allocated
    free.beginLinked()
    index = NoIndex
    if (canBeSearched) index = new SearchIndex(DiskIndex.of(count, !isDeleted(_), key, time, disk))
    spillPages()
    idle = math.max(idle, 1)
    before - allocated
  }

  /** The rows are needed in memory. */
  private def use(): Unit = if (idle > 0) {
    val recalled = areSpilled
    if (recalled) recall()
    idle = 0
    if (recalled) disk.checkMemory()
  }

  private def recall(): Unit = {
    recallPages()
    releaseIndex()
    free.foreachLinked { i =>
      bytes.free(place(i))
      for (kind <- ChainKind.all) setFlag(i, kind.off, on = true)
    }
  }

  /** Frees its extents of the disk; nothing is read afterwards. */
  def release(): Unit = {
    released = true
    bytes.release()
    releasePages()
    releaseIndex()
  }

  private def releaseIndex(): Unit = {
    index.release()
    index = NoIndex
  }

  /**
   * Makes the place of a deleted row free for another, unless the segment was dropped. There
   * must be nothing that can be undone.
   */
  def reclaim(i: Int): Unit =
    if (areSpilled) free.add(i)
    else if (!released) {
      bytes.free(place(i))
      index match {
        case chains: ChainIndex => chains.forget(i)
        case _                  => for (kind <- ChainKind.all if !isOff(i, kind)) setOff(i, kind)
      }
    }

  override def setOff(i: Int, kind: ChainKind): Unit = {
    setFlag(i, kind.off, on = true)
    if (isOff(i, ChainKind.OfKey) && isOff(i, ChainKind.OfTime)) free.add(i)
  }

  /** The live rows, recalled, in the order of their bytes: the disk is read sequentially. */
  def inOrderOfBytes(): Array[Int] = {
    if (areSpilled) recall()
    val order = Array.range(0, count).filterNot(isDeleted)
      .map(i => RowBytes.position(place(i)) << ChainKind.Bits | i)
    Arrays.sort(order)
    order.map(_.toInt & ChainKind.Mask)
  }

  /**
   * Whether most of its rows or bytes are not needed any more, or it takes no more rows and few are
   * left. Its rows should be in another segment, then.
   */
  def isSparse: Boolean =
    free.length > FewRows && free.length > count / 2 ||
      !areSpilled && (bytes.isSparse || closed && live < disk.searchedFrom)
}

private[segment] object Segment {

  private val MostRows = (1 << ChainKind.Bits) - 2

  /** Instead of a chain: the rows are searched on the disk. */
  val OnDisk: Int = -1

  /** Bytes of the objects of a segment, whatever its rows. */
  private val OwnBytes = 600L

  /** Fewer rows are neither spilled nor moved. */
  private val FewRows = 64

  /** Rows that most batches use must not be spilled and recalled again and again. */
  private val IdleVersions = 4
}
