package io.streamjoin.state.segment

import java.util.function.IntConsumer

/**
 * Buffered rows of one side whose first limit lies in one range, with an index by key: what is freed
 * together lies together, and goes as a whole.
 *
 * {{{
 *   index   slot of a key -> newest row -> older row -> ...
 *   row i   key, time, older and flags, place --> bytes, id, limits...
 * }}}
 *
 * The index is built when a probe first asks for it, of all rows that are there, and anew when there are more than
 * it has room for: a batch appends many rows before it probes them, and a restart those of many segments that
 * no probe comes to for long.
 *
 * Rows are numbered in the order in which they came. One that goes by itself is marked, and when no
 * version can want it back its number and its bytes are another's: a segment that stays for ever, of
 * rows that are replaced, is as large as what is in it.
 *
 * Where memory is short, the numbers of its rows go to the disk as their bytes do, and the index with them. What is known
 * of all rows together stays: a probe of other times and an eviction below all limits do not come to it. A segment of many
 * rows is searched there ([[DiskIndex]]), and taken back where as much has been read of it in one version as would bring it
 * back twice; one of few rows comes back with the first probe.
 *
 * @param low no first limit of its rows is less
 * @param high no first limit of its rows is greater
 * @param timeIndex whether rows of a key are found by one time without a walk over the others
 * @param expected how many rows there may be
 * @param watched how many numbers a row has behind its limits, of which only the least is asked for
 */
private[segment] final class Segment(
    val low: Long,
    val high: Long,
    limitCount: Int,
    disk: SpilledBytes,
    timeIndex: Boolean = false,
    expected: Int = 0,
    watched: Int = 0
) extends RowPages(limitCount + watched, expected, disk) {
  import RowPages._
  import Segment._
  import SegmentStage._

  private var index: SegmentIndex = NoIndex
  private var stage: SegmentStage = Open
  private val limits = new SegmentLimits(this, limitCount, watched)
  private val free = new FreeRows
  private var count = 0
  private var alive = 0

  private var least = Long.MaxValue
  private var greatest = Long.MinValue

  /** How many versions were sealed since something came to its rows in memory. */
  private var idle = 0

  val bytes: RowBytes = new RowBytes(disk)
  private var sealedCount = 0

  override def length: Int = count

  /** How many rows have not gone. */
  def live: Int = alive

  /** Whether the row has come since the last version was sealed. */
  def isFresh(i: Int): Boolean = i >= sealedCount || !areSpilled && has(i, Reused)

  /** The rows that have come since the last version was sealed, in that order, without those that have gone. */
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

  /** Whether some limit of some row may be below its watermark. */
  def mayBeBelow(watermarks: Array[Long]): Boolean = limits.mayBeBelow(watermarks)

  /** The next row that has not gone whose limit is below the watermark, or -1. */
  def nextBelow(k: Int, watermark: Long): Int =
    if (areSpilled) limits.nextSpilledBelow(k, watermark)
    else {
      use()
      limits.nextBelow(k, watermark)
    }

  /**
   * The least limit `k` of the rows that have not gone, `Long.MaxValue` if there is none. Costs a sort
   * if the row that had it has gone and others have come since the last one.
   */
  def least(k: Int): Long = if (alive == 0) Long.MaxValue else limits.least(k)

  /** The same of rows that have not been joined; of all of them while they are on the disk. */
  def leastUnmatched(k: Int): Long = if (areSpilled) least(k) else limits.leastUnmatched(k)

  def append[R](
      key: Long,
      time: Long,
      of: Array[Long],
      row: R,
      codec: RowCodec[R],
      matched: Boolean,
      id: Long
  ): Unit = {
    use()
    val flags = (if (matched) Matched else 0L) | (if (timeIndex) 0L else ChainKind.OfTime.off)
    val i = if (free.nonEmpty) {
      val i = free.take()
      put(i, key, time, flags | Reused, bytes.replace(place(i), row, codec), id, of)
      i
    } else {
      if (count == MostRows) throw new IllegalStateException("too many rows in one segment")
      // the next probe builds a larger one
      if (index.isFull(count)) index = NoIndex
      put(count, key, time, flags, bytes.append(row, codec), id, of)
      count += 1
      count - 1
    }
    limits.add(i, of)
    least = math.min(least, time)
    greatest = math.max(greatest, time)
    index.add(i)
    alive += 1
  }

  def setDeleted(i: Int, deleted: Boolean): Unit = {
    setDeletedFlag(i, deleted)
    alive += (if (deleted) -1 else 1)
  }

  // ---- chains ----

  /**
   * The newest row of the chain of a key with this hash, and of others, as its number plus one; 0 where
   * there is none, and [[OnDisk]] where rows are to be [[search searched]].
   */
  def chain(hash: Int): Int = index match {
    case chains: ChainIndex if idle == 0               => chains.ofHash(hash)
    case search: SearchIndex if !isWorthRecall(search) => OnDisk
    case _                                             => chains().ofHash(hash)
  }

  /** The same of a key and a time, see [[ChainIndex.keyAndTime]]. */
  def timeChain(hash: Int): Int = chains().ofTime(hash)

  private def isWorthRecall(search: SearchIndex): Boolean =
    search.hasReadTwice(count) && disk.mayRecall(pagesSpilled)

  /** Shows the numbers of the rows of a key and a range of times that have not gone, where they lie on the disk. */
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

  /** Rows that can be undone come last, in the order in which they came. */
  private def buildIndex(): ChainIndex = {
    val chains = new ChainIndex(this, math.max(count, expected), timeIndex)
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
    OwnBytes + bytes.allocated + pagesAllocated + index.allocated + free.allocated

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

  /** Forgets the rows that were appended since the last version was sealed. */
  def rollback(): Unit =
    if (areSpilled) limits.rewind()
    else {
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
      limits.undo()
    }

  private def undo(i: Int): Unit = {
    if (!isDeleted(i)) alive -= 1
    index.undo(i)
  }

  // ---- memory ----

  /**
   * Moves bytes of rows to the disk until so much memory is free, or nothing is left to move. There
   * must be no row that can be undone.
   *
   * @return how many bytes have become free
   */
  def spill(wanted: Long): Long = {
    requireSealed()
    bytes.spill(wanted)
  }

  private def requireSealed(): Unit =
    if (count > sealedCount || free.taken > 0)
      throw new IllegalStateException("some rows can be undone")

  /** Whether nothing has come to its rows for so long that they may go from memory. */
  def isIdle: Boolean = idle >= IdleVersions && count > FewRows && !areSpilled

  /** Whether its rows can be searched on the disk, and are in memory. */
  def canBeSearched: Boolean = !timeIndex && count >= disk.searchedFrom && !areSpilled

  /** Whether rows are searched on the disk. */
  def isSearched: Boolean = index.isInstanceOf[SearchIndex]

  /** Whether it takes no more rows. */
  def isClosed: Boolean = stage == Closed

  def close(): Unit = stage = Closed

  /**
   * Moves the numbers of the rows to the disk. There must be no row that can be undone.
   *
   * @return how many bytes have become free
   */
  def spillNumbers(): Long = {
    requireSealed()
    val before = allocated
    limits.dropQueues()
    free.beginLinked()
    index = NoIndex
    if (canBeSearched) index = new SearchIndex(DiskIndex.of(count, !isDeleted(_), key, time, disk))
    spillPages()
    idle = math.max(idle, 1)
    before - allocated
  }

  /** Something comes to the rows. */
  private def use(): Unit = if (idle > 0) {
    val recalled = areSpilled
    if (recalled) recall()
    idle = 0
    if (recalled) disk.checkMemory()
  }

  private def recall(): Unit = {
    limits.recall()
    recallPages()
    releaseIndex()
    free.foreachLinked { i =>
      bytes.free(place(i))
      for (kind <- ChainKind.all) setFlag(i, kind.off, on = true)
    }
  }

  /** Gives back what it has on the disk; nothing is read any more. */
  def release(): Unit = {
    stage = Released
    bytes.release()
    releasePages()
    releaseIndex()
  }

  private def releaseIndex(): Unit = {
    index.release()
    index = NoIndex
  }

  /**
   * Another may have the place of a row that has gone, unless all have gone with their segment since. There must be
   * nothing that can be undone.
   */
  def reclaim(i: Int): Unit =
    if (areSpilled) free.add(i)
    else if (stage != Released) {
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

  /** Gives memory back where most of it is of rows that have gone; nothing must be to be undone. */
  def compact(): Unit = {
    val isSparse = free.length > FewRows && free.length > count / 2
    if (areSpilled && isSparse) recall()
    if (isSparse) renumber()
    if (!areSpilled && bytes.isSparse) {
      for (i <- 0 until count if isDeleted(i)) setPlace(i, RowBytes.Nowhere)
      val rows = ChunkOrder.of(this, alive, bytes.chunkCount)
      bytes.compact(alive, n => place(rows(n)), (n, place) => setPlace(rows(n), place))
    }
  }

  /** Rows from the end take the numbers of those that have gone. */
  private def renumber(): Unit = {
    moveTogether(alive)
    count = alive
    sealedCount = alive
    free.clear()
    limits.dropQueues()
    index = NoIndex
  }
}

private[segment] object Segment {

  private val MostRows = (1 << ChainKind.Bits) - 2

  /** In the place of a chain: the rows are searched on the disk. */
  val OnDisk: Int = -1

  /** Of the objects that a segment consists of, whatever is in it. */
  private val OwnBytes = 600L

  /** Not worth a thought. */
  private val FewRows = 64

  /** What comes in each batch, but for some, shall not be read and written again and again. */
  private val IdleVersions = 4
}
