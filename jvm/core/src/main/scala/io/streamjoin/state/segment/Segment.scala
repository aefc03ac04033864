package io.streamjoin.state.segment

import java.util.Arrays
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

  /** The index, of keys and, with `timeIndex`, of keys and times; null while there is none. */
  private var byKey: Chains = _
  private var byTime: Chains = _
  private var free: FreeRows = _
  private var count = 0
  private var alive = 0

  private val leastLimit = Array.fill(limitCount + watched)(Long.MaxValue)
  private val leastRow = Array.fill(limitCount + watched)(-1)
  private val greatestLimit = Array.fill(limitCount)(Long.MinValue)
  private var least = Long.MaxValue
  private var greatest = Long.MinValue
  private val queues = new Array[LimitQueue](limitCount + watched)

  /** How many versions were sealed since something came to its rows in memory. */
  private var idle = 0

  /** The index of rows that are searched on the disk; null where they are not. */
  private var searched: DiskIndex = _

  /** How many reads of the disk searches have cost since the last version was sealed. */
  private var reads = 0

  /** From which row on those below a watermark are looked for on the disk. */
  private var belowFrom = 0

  /** How many of the free rows were taken out of their chains before they went to the disk. */
  private var freeBefore = 0
  private var closed = false
  private var released = false

  val bytes: RowBytes = new RowBytes(disk)
  private var sealedCount = 0

  /** No row has this number or a greater one. */
  def length: Int = count

  /** How many rows have not gone. */
  def live: Int = alive

  /** Whether the row has come since the last version was sealed. */
  def isFresh(i: Int): Boolean = i >= sealedCount || !areSpilled && has(i, Reused)

  /** The rows that have come since the last version was sealed, in that order, without those that have gone. */
  def foreachFresh(visit: IntConsumer): Unit = {
    var n = 0
    while (n < taken) {
      if (!isGone(free.taken(n))) visit.accept(free.taken(n))
      n += 1
    }
    var i = sealedCount
    while (i < count) {
      if (!isGone(i)) visit.accept(i)
      i += 1
    }
  }

  private def taken: Int = if (free == null) 0 else free.taken

  /** No row ever had a lower time. */
  def leastTime: Long = least

  /** No row ever had a higher time. */
  def greatestTime: Long = greatest

  /** Whether a row may have a time in this range. */
  def mayHold(from: Long, to: Long): Boolean = least <= to && greatest >= from

  /** Whether some limit of every row is below its watermark, as far as that is plain. */
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
      if ((if (areSpilled) leastSpilled(k, count) else leastLimit(k)) < watermarks(k)) return true
      k += 1
    }
    false
  }

  /**
   * The next row that has not gone whose limit is below the watermark, or -1. Costs what the rows
   * below the watermark cost, and once, after rows have been appended, a sort; on the disk, pages in which there are
   * some are read.
   */
  def nextBelow(k: Int, watermark: Long): Int = if (areSpilled) {
    val i = nextSpilledBelow(belowFrom, k, watermark, count)
    belowFrom = i + 1
    i
  } else {
    use()
    if (queues(k) == null) queues(k) = LimitQueue.of(count, limit(_, k))
    val queue = queues(k)
    while (queue.nonEmpty && limit(queue.head, k) < watermark) {
      val i = queue.head
      queue.drop()
      if (!isGone(i)) return i
    }
    leastLimit(k) = if (queue.nonEmpty) limit(queue.head, k) else Long.MaxValue
    -1
  }

  /**
   * The least limit `k` of the rows that have not gone, `Long.MaxValue` where there is none. Costs a sort
   * where the row that had it has gone and others have come since the last one.
   */
  def least(k: Int): Long =
    if (alive == 0) Long.MaxValue
    else if (areSpilled) leastSpilled(k, count)
    else {
      if (!isLeast(leastRow(k), k)) {
        if (queues(k) == null) queues(k) = LimitQueue.of(count, limit(_, k))
        val queue = queues(k)
        while (isGone(queue.head)) queue.drop()
        leastRow(k) = queue.head
        leastLimit(k) = limit(queue.head, k)
      }
      leastLimit(k)
    }

  /** The same of rows that have not been joined; of all of them while they are on the disk. */
  def leastUnmatched(k: Int): Long =
    if (areSpilled) least(k)
    else {
      var found = Long.MaxValue
      var i = 0
      while (i < count) {
        if (!isGone(i) && !isMatched(i)) found = math.min(found, limit(i, k))
        i += 1
      }
      found
    }

  /** Whether the row is there and has what no row is below. */
  private def isLeast(i: Int, k: Int): Boolean =
    i >= 0 && i < count && !isGone(i) && limit(i, k) == leastLimit(k)

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
    val i = if (free != null && free.nonEmpty) {
      val i = free.take()
      put(i, key, time, flags | Reused, bytes.replace(place(i), row, codec), id, of)
      i
    } else {
      if (isIndexed && count == byKey.rows) dropIndex()
      if (count == MostRows) throw new IllegalStateException("too many rows in one segment")
      put(count, key, time, flags, bytes.append(row, codec), id, of)
      count += 1
      count - 1
    }
    var k = 0
    while (k < limitCount + watched) {
      if (of(k) < leastLimit(k)) {
        leastLimit(k) = of(k)
        leastRow(k) = i
      }
      if (k < limitCount) greatestLimit(k) = math.max(greatestLimit(k), of(k))
      queues(k) = null
      k += 1
    }
    least = math.min(least, time)
    greatest = math.max(greatest, time)
    if (isIndexed) enchain(i)
    alive += 1
  }

  def setGone(i: Int, gone: Boolean): Unit = {
    setGoneFlag(i, gone)
    alive += (if (gone) -1 else 1)
  }

  // ---- chains ----

  /**
   * The newest row of the chain of a key with this hash, and of others, as its number plus one; 0 where
   * there is none, and [[OnDisk]] where rows are to be [[search searched]].
   */
  def chain(hash: Int): Int =
    if (idle > 0 && staysOnDisk) OnDisk
    else {
      use()
      if (!isIndexed) index()
      byKey.ofHash(hash)
    }

  /** Shows the numbers of the rows of a key and a range of times that have not gone, where they lie on the disk. */
  def search(key: Long, hash: Int, from: Long, to: Long, found: IntConsumer): Unit =
    if (searched.mayHold(hash)) {
      reads += searched.find(hash, from, to) { i =>
        if (!isGone(i)) {
          show(i)
          reads += 1
          if (this.key(i) == key) found.accept(i)
        }
      }
    }

  private def staysOnDisk: Boolean = searched != null && {
    val isWorthAll = reads > count / RowsOfRead * 2
    if (isWorthAll) reads = 0
    !(isWorthAll && disk.mayRecall(pagesSpilled))
  }

  /** The same of a key and a time, see [[Segment.keyAndTime]]. */
  def timeChain(hash: Int): Int = {
    use()
    if (!isIndexed) index()
    byTime.ofHash(hash)
  }

  private def isIndexed: Boolean = byKey != null

  private def enchain(i: Int): Unit = {
    byKey.add(i, key(i))
    if (timeIndex) byTime.add(i, keyAndTime(key(i), time(i)))
  }

  private def unchain(i: Int): Unit = {
    byKey.undo(i, key(i))
    if (timeIndex) byTime.undo(i, keyAndTime(key(i), time(i)))
  }

  /** Rows that can be undone come last, in the order in which they came. */
  private def index(): Unit = {
    val rows = math.max(count, expected)
    byKey = new Chains(this, ChainKind.OfKey, rows)
    if (timeIndex) byTime = new Chains(this, ChainKind.OfTime, rows)
    var i = 0
    while (i < sealedCount) {
      if (!has(i, Reused)) {
        if (!isOff(i, ChainKind.OfKey)) byKey.add(i, key(i))
        if (!isOff(i, ChainKind.OfTime)) byTime.add(i, keyAndTime(key(i), time(i)))
      }
      i += 1
    }
    for (n <- 0 until taken) enchain(free.taken(n))
    while (i < count) {
      enchain(i)
      i += 1
    }
  }

  private def dropIndex(): Unit = {
    byKey = null
    byTime = null
  }

  // ---- versions ----

  /** Bytes held in memory. */
  def allocated: Long = OwnBytes + bytes.allocated + pagesAllocated +
    (if (byKey == null) 0L else byKey.allocated) +
    (if (searched == null) 0L else searched.allocated) +
    (if (byTime == null) 0L else byTime.allocated) +
    (if (free == null) 0L else free.allocated)

  /** Of these, what [[spillNumbers]] would free. */
  def numberBytes: Long = pagesAllocated + (if (byKey == null) 0L else byKey.allocated)

  def seal(): Unit = {
    idle += 1
    reads = 0
    belowFrom = 0
    for (n <- 0 until taken) setFlag(free.taken(n), Reused, on = false)
    if (free != null) free.seal()
    sealedCount = count
    bytes.seal()
  }

  /** Forgets the rows that were appended since the last version was sealed. */
  def rollback(): Unit = if (areSpilled) belowFrom = 0
  else {
    while (count > sealedCount) {
      count -= 1
      if (!isGone(count)) alive -= 1
      if (isIndexed) unchain(count)
    }
    bytes.rollback()
    for (n <- taken - 1 to 0 by -1) {
      val i = free.taken(n)
      if (!isGone(i)) alive -= 1
      if (isIndexed) unchain(i)
      setLink(i, Gone | ChainKind.OfKey.off | ChainKind.OfTime.off)
      if (!bytes.holds(place(i))) setPlace(i, RowBytes.Nowhere)
    }
    if (free != null) free.rollback()
    // rows that had gone may be back: a lower bound that is too low makes them be looked for
    Arrays.fill(leastLimit, Long.MinValue)
    Arrays.fill(queues.asInstanceOf[Array[AnyRef]], null)
  }

  // ---- memory ----

  /**
   * Moves bytes of rows to the disk until so much memory is free, or nothing is left to move. There
   * must be no row that can be undone.
   *
   * @return how many bytes have become free
   */
  def spill(wanted: Long): Long = {
    if (count > sealedCount || taken > 0) throw new IllegalStateException("some rows can be undone")
    bytes.spill(wanted)
  }

  /** Whether nothing has come to its rows for so long that they may go from memory. */
  def isIdle: Boolean = idle >= IdleVersions && count > FewRows && !areSpilled

  /** Whether its rows can be searched on the disk, and are in memory. */
  def canBeSearched: Boolean = !timeIndex && count >= disk.searchedFrom && !areSpilled

  /** Whether rows are searched on the disk. */
  def isSearched: Boolean = searched != null

  /** Whether it takes no more rows. */
  def isClosed: Boolean = closed

  def close(): Unit = closed = true

  /**
   * Moves the numbers of the rows to the disk. There must be no row that can be undone.
   *
   * @return how many bytes have become free
   */
  def spillNumbers(): Long = {
    if (count > sealedCount || taken > 0) throw new IllegalStateException("some rows can be undone")
    val before = allocated
    Arrays.fill(queues.asInstanceOf[Array[AnyRef]], null)
    dropIndex()
    freeBefore = if (free == null) 0 else free.length
    if (canBeSearched) searched = DiskIndex.of(count, !isGone(_), key, time, disk)
    spillPages(count)
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
    for (k <- leastLimit.indices) leastLimit(k) = leastSpilled(k, count)
    recallPages(count)
    releaseSearched()
    if (free != null) {
      for (n <- freeBefore until free.length) {
        bytes.free(place(free(n)))
        for (kind <- ChainKind.all) setFlag(free(n), kind.off, on = true)
      }
    }
  }

  /** Gives back what it has on the disk; nothing is read any more. */
  def release(): Unit = {
    released = true
    bytes.release()
    releasePages()
    releaseSearched()
  }

  private def releaseSearched(): Unit = if (searched != null) {
    searched.release()
    searched = null
  }

  /**
   * Another may have the place of a row that has gone, unless all have gone with their segment since. There must be
   * nothing that can be undone.
   */
  def reclaim(i: Int): Unit = if (areSpilled) {
    if (free == null) free = new FreeRows
    free.add(i)
  } else if (!released) {
    bytes.free(place(i))
    if (isIndexed) {
      byKey.forget(i, key(i))
      if (timeIndex) byTime.forget(i, keyAndTime(key(i), time(i)))
    } else {
      for (kind <- ChainKind.all if !isOff(i, kind)) setOff(i, kind)
    }
  }

  override def setOff(i: Int, kind: ChainKind): Unit = {
    setFlag(i, kind.off, on = true)
    if (isOff(i, ChainKind.OfKey) && isOff(i, ChainKind.OfTime)) {
      if (free == null) free = new FreeRows
      free.add(i)
    }
  }

  /** Gives memory back where most of it is of rows that have gone; nothing must be to be undone. */
  def compact(): Unit = if (free != null) {
    val isSparse = free.length > FewRows && free.length > count / 2
    if (areSpilled && isSparse) recall()
    if (isSparse) moveTogether()
    if (!areSpilled && bytes.isSparse) {
      for (i <- 0 until count if isGone(i)) setPlace(i, RowBytes.Nowhere)
      val rows = byChunk()
      bytes.compact(alive, n => place(rows(n)), (n, place) => setPlace(rows(n), place))
    }
  }

  /** The rows that have not gone, in the order of the chunks of their bytes. */
  private def byChunk(): Array[Int] = {
    val next = new Array[Int](bytes.chunkCount + 1)
    for (i <- 0 until count if !isGone(i)) next(RowBytes.chunkNumber(place(i)) + 1) += 1
    for (c <- 1 until next.length) next(c) += next(c - 1)
    val rows = new Array[Int](alive)
    for (i <- 0 until count if !isGone(i)) {
      val c = RowBytes.chunkNumber(place(i))
      rows(next(c)) = i
      next(c) += 1
    }
    rows
  }

  /** Rows from the end take the numbers of those that have gone. */
  private def moveTogether(): Unit = {
    var to = 0
    var from = count - 1
    while (to < from) {
      if (!isGone(to)) to += 1
      else if (isGone(from)) from -= 1
      else {
        copy(from, to)
        setFlag(from, Gone, on = true)
      }
    }
    count = alive
    sealedCount = count
    truncate(count)
    free = null
    Arrays.fill(queues.asInstanceOf[Array[AnyRef]], null)
    dropIndex()
  }
}

private[segment] object Segment {

  /** What rows of one key and one time are found by. */
  def keyAndTime(key: Long, time: Long): Long = key + time * 0xbf58476d1ce4e5b9L

  private val MostRows = (1 << ChainKind.Bits) - 2

  /** In the place of a chain: the rows are searched on the disk. */
  val OnDisk: Int = -1

  /** So many rows lie in what a search reads at a time. */
  private val RowsOfRead = 64

  /** Of the objects that a segment consists of, whatever is in it. */
  private val OwnBytes = 600L

  /** Not worth a thought. */
  private val FewRows = 64

  /** What comes in each batch, but for some, shall not be read and written again and again. */
  private val IdleVersions = 4
}
