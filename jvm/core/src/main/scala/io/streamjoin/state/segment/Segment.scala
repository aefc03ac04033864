package io.streamjoin.state.segment

import java.util.Arrays

/**
 * Buffered rows of one side whose first limit lies in one range, with an index by key: what is freed
 * together lies together, and goes as a whole.
 *
 * Rows are numbered in the order in which they came. Each belongs to the chain of its slot in the
 * index, the newest first. Only ever appended to; a row that goes by itself is marked.
 *
 * {{{
 *   index   slot of a key -> newest row -> older row -> ...
 *   row i   key, time, older and flags, place --> bytes, id, limits...
 * }}}
 *
 * All of a row lies together, for a probe comes to rows in no order of memory. Rows and index are in
 * pages, so that no array is as large as those that the garbage collector treats by themselves.
 *
 * @param low no first limit of its rows is less
 * @param high no first limit of its rows is greater
 * @param expected how many rows there may be
 */
private[segment] final class Segment(
    val low: Long,
    val high: Long,
    limitCount: Int,
    disk: SpilledBytes,
    expected: Int = 0
) {
  import Segment._

  private val width = FirstLimit + limitCount
  private var pages = new Array[Array[Long]](1)
  private var index = new SlotPages(expected)
  private var count = 0
  private var alive = 0

  private val leastLimit = Array.fill(limitCount)(Long.MaxValue)
  private val greatestLimit = Array.fill(limitCount)(Long.MinValue)
  private var least = Long.MaxValue
  private var greatest = Long.MinValue
  private val queues = new Array[LimitQueue](limitCount)

  val bytes: RowBytes = new RowBytes(disk)
  private var sealedCount = 0
  private var sealedBytes = bytes.mark

  /** How many rows were ever appended, gone ones too. */
  def length: Int = count

  /** How many rows have not gone. */
  def live: Int = alive

  /** How many rows were there when the last version was sealed, gone ones too. */
  def old: Int = sealedCount

  def key(i: Int): Long = page(i)(start(i) + Key)
  def time(i: Int): Long = page(i)(start(i) + Time)
  def place(i: Int): Long = page(i)(start(i) + Place)
  def id(i: Int): Long = page(i)(start(i) + Id)
  def limit(i: Int, k: Int): Long = page(i)(start(i) + FirstLimit + k)
  def isGone(i: Int): Boolean = (link(i) & Gone) != 0
  def isMatched(i: Int): Boolean = (link(i) & Matched) != 0

  private def page(i: Int): Array[Long] = pages(i >>> PageShift)
  private def start(i: Int): Int = (i & PageRows - 1) * width
  private def link(i: Int): Long = page(i)(start(i) + Link)

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
      if (leastLimit(k) < watermarks(k)) return true
      k += 1
    }
    false
  }

  /**
   * The next row that has not gone whose limit is below the watermark, or -1. Costs what the rows
   * below the watermark cost, and once, after rows have been appended, a sort.
   */
  def nextBelow(k: Int, watermark: Long): Int = {
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

  def append(
      key: Long,
      time: Long,
      of: Array[Long],
      place: Long,
      matched: Boolean,
      id: Long
  ): Unit = {
    if (count == index.rows) reindex()
    makeRoom(count >>> PageShift)
    val rows = page(count)
    val at = start(count)
    rows(at + Key) = key
    rows(at + Time) = time
    rows(at + Link) = if (matched) Matched else 0L
    rows(at + Place) = place
    rows(at + Id) = id
    var k = 0
    while (k < limitCount) {
      rows(at + FirstLimit + k) = of(k)
      leastLimit(k) = math.min(leastLimit(k), of(k))
      greatestLimit(k) = math.max(greatestLimit(k), of(k))
      queues(k) = null
      k += 1
    }
    least = math.min(least, time)
    greatest = math.max(greatest, time)
    enchain(count)
    count += 1
    alive += 1
  }

  def setId(i: Int, id: Long): Unit = page(i)(start(i) + Id) = id

  def setMatched(i: Int, matched: Boolean): Unit = setFlag(i, Matched, matched)

  def setGone(i: Int, gone: Boolean): Unit = {
    setFlag(i, Gone, gone)
    alive += (if (gone) -1 else 1)
  }

  private def setFlag(i: Int, flag: Long, on: Boolean): Unit = {
    setLink(i, if (on) link(i) | flag else link(i) & ~flag)
  }

  private def setLink(i: Int, link: Long): Unit = page(i)(start(i) + Link) = link

  /**
   * The newest row of the chain of a key with this hash, and of others, as its number plus one; 0 where
   * there is none.
   */
  def chain(hash: Int): Int = index.ofHash(hash)

  /** The next older row of the same chain, as its number plus one; 0 where there is none. */
  def older(i: Int): Int = (link(i) >>> OlderShift).toInt

  /** Whether the row has this key and a time in this range and has not gone. */
  def isWanted(i: Int, key: Long, from: Long, to: Long): Boolean = {
    val rows = page(i)
    val at = start(i)
    val time = rows(at + Time)
    // all of it is in one place: cheaper compared than guessed
    rows(at + Key) == key & time >= from & time <= to & (rows(at + Link) & Gone) == 0
  }

  /** Bytes held in memory. */
  def allocated: Long =
    bytes.allocated + index.allocated + pages.iterator.filter(_ != null).map(_.length * 8L).sum

  def seal(): Unit = {
    sealedCount = count
    sealedBytes = bytes.mark
  }

  /**
   * Moves bytes of rows to the disk until so much memory is free, or nothing is left to move. There
   * must be no row that can be undone.
   *
   * @return how many bytes have become free
   */
  def spill(wanted: Long): Long = {
    if (count > sealedCount) throw new IllegalStateException("some rows can be undone")
    bytes.spill(wanted)
  }

  /** Forgets the rows that were appended since the last version was sealed. */
  def rollback(): Unit = {
    while (count > sealedCount) {
      count -= 1
      if (!isGone(count)) alive -= 1
      index(index.slot(key(count))) = older(count)
    }
    bytes.reset(sealedBytes)
    // rows that had gone may be back: a lower bound that is too low makes them be looked for
    Arrays.fill(leastLimit, Long.MinValue)
    Arrays.fill(queues.asInstanceOf[Array[AnyRef]], null)
  }

  private def enchain(i: Int): Unit = {
    val slot = index.slot(key(i))
    setLink(i, link(i) & (1L << OlderShift) - 1 | index(slot).toLong << OlderShift)
    index(slot) = i + 1
  }

  private def reindex(): Unit = {
    index = new SlotPages(index.rows * 2)
    for (i <- 0 until count) enchain(i)
  }

  /** The first page grows, for many segments have few rows. */
  private def makeRoom(p: Int): Unit = {
    if (p == pages.length) pages = Arrays.copyOf(pages, p * 2)
    if (pages(p) == null) pages(p) = new Array[Long]((if (p == 0) FirstRows else PageRows) * width)
    else if (p == 0 && start(count) == pages(0).length) {
      pages(0) = Arrays.copyOf(pages(0), pages(0).length * 2)
    }
  }
}

private object Segment {
  private val FirstRows = 64
  private val PageShift = 10
  private val PageRows = 1 << PageShift

  // where in a row
  private val Key = 0
  private val Time = 1
  private val Link = 2
  private val Place = 3
  private val Id = 4
  private val FirstLimit = 5

  // the link: flags, and above them the number of the older row, plus one
  private val Matched = 1L
  private val Gone = 2L
  private val OlderShift = 8
}
