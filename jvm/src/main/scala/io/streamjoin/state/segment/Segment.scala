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
 * All of a row lies together, for a probe comes to rows in no order of memory.
 *
 * @param low no first limit of its rows is less
 * @param high no first limit of its rows is greater
 */
private[segment] final class Segment(
    val low: Long,
    val high: Long,
    limitCount: Int,
    disk: SpilledBytes
) {
  import Segment._

  private val width = FirstLimit + limitCount
  private var rows = new Array[Long](InitialRows * width)
  private var index = emptyIndex(InitialRows)
  private var count = 0
  private var alive = 0

  private val leastLimit = Array.fill(limitCount)(Long.MaxValue)
  private val greatestLimit = Array.fill(limitCount)(Long.MinValue)
  private var leastTime = Long.MaxValue
  private var greatestTime = Long.MinValue
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

  def key(i: Int): Long = rows(i * width + Key)
  def time(i: Int): Long = rows(i * width + Time)
  def place(i: Int): Long = rows(i * width + Place)
  def id(i: Int): Long = rows(i * width + Id)
  def limit(i: Int, k: Int): Long = rows(i * width + FirstLimit + k)
  def isGone(i: Int): Boolean = (rows(i * width + Link) & Gone) != 0
  def isMatched(i: Int): Boolean = (rows(i * width + Link) & Matched) != 0

  /** Whether a row may have a time in this range. */
  def mayHold(from: Long, to: Long): Boolean = leastTime <= to && greatestTime >= from

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
    if ((count + 1) * width > rows.length) grow()
    val at = count * width
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
    leastTime = math.min(leastTime, time)
    greatestTime = math.max(greatestTime, time)
    link(count)
    count += 1
    alive += 1
  }

  def setId(i: Int, id: Long): Unit = rows(i * width + Id) = id

  def setMatched(i: Int, matched: Boolean): Unit = setFlag(i, Matched, matched)

  def setGone(i: Int, gone: Boolean): Unit = {
    setFlag(i, Gone, gone)
    alive += (if (gone) -1 else 1)
  }

  private def setFlag(i: Int, flag: Long, on: Boolean): Unit = {
    val at = i * width + Link
    rows(at) = if (on) rows(at) | flag else rows(at) & ~flag
  }

  /** The newest row in the chain of a key, or -1; rows of other keys are in it too. */
  def newest(key: Long): Int = index(slot(key)) - 1

  /** The next older row in the chain, or -1. */
  def next(i: Int): Int = older(i) - 1

  private def older(i: Int): Int = (rows(i * width + Link) >>> OlderShift).toInt

  /** Bytes held in memory. */
  def allocated: Long =
    bytes.allocated + rows.length * 8L + index.length * 4L

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
      index(slot(key(count))) = older(count)
    }
    bytes.reset(sealedBytes)
    // rows that had gone may be back: a lower bound that is too low makes them be looked for
    Arrays.fill(leastLimit, Long.MinValue)
    Arrays.fill(queues.asInstanceOf[Array[AnyRef]], null)
  }

  private def link(i: Int): Unit = {
    val (s, at) = (slot(key(i)), i * width + Link)
    rows(at) = rows(at) & (1L << OlderShift) - 1 | index(s).toLong << OlderShift
    index(s) = i + 1
  }

  private def slot(key: Long): Int = {
    val h = key * 0x9e3779b97f4a7c15L
    (h >>> 32).toInt & (index.length - 1)
  }

  private def grow(): Unit = {
    rows = Arrays.copyOf(rows, rows.length * 2)
    index = emptyIndex(rows.length / width)
    for (i <- 0 until count) link(i)
  }
}

private object Segment {
  private val InitialRows = 64

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

  private def emptyIndex(rows: Int): Array[Int] = new Array[Int](rows * 2)
}
