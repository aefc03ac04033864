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
 *   row i   key(i)  time(i)  limit(i, 0..)  flags(i)  place(i) --> bytes
 * }}}
 *
 * @param low no first limit of its rows is less
 * @param high no first limit of its rows is greater
 */
private[segment] final class Segment(val low: Long, val high: Long, limitCount: Int) {
  import Segment._

  private var keys = new Array[Long](InitialRows)
  private var times = new Array[Long](InitialRows)
  private var places = new Array[Long](InitialRows)
  private var ids = new Array[Long](InitialRows)
  private var limits = new Array[Long](InitialRows * limitCount)
  private var flags = new Array[Byte](InitialRows)
  private var older = new Array[Int](InitialRows)
  private var index = emptyIndex(InitialRows)
  private var count = 0
  private var alive = 0

  private val leastLimit = Array.fill(limitCount)(Long.MaxValue)
  private val greatestLimit = Array.fill(limitCount)(Long.MinValue)
  private var leastTime = Long.MaxValue
  private var greatestTime = Long.MinValue
  private val queues = new Array[LimitQueue](limitCount)

  val bytes: RowBytes = new RowBytes
  private var sealedCount = 0
  private var sealedBytes = bytes.mark

  /** How many rows were ever appended, gone ones too. */
  def length: Int = count

  /** How many rows have not gone. */
  def live: Int = alive

  /** How many rows were there when the last version was sealed, gone ones too. */
  def old: Int = sealedCount

  def key(i: Int): Long = keys(i)
  def time(i: Int): Long = times(i)
  def place(i: Int): Long = places(i)
  def id(i: Int): Long = ids(i)
  def limit(i: Int, k: Int): Long = limits(i * limitCount + k)
  def isGone(i: Int): Boolean = (flags(i) & Gone) != 0
  def isMatched(i: Int): Boolean = (flags(i) & Matched) != 0

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
    if (count == keys.length) grow()
    val i = count
    keys(i) = key
    times(i) = time
    places(i) = place
    ids(i) = id
    flags(i) = if (matched) Matched else 0
    var k = 0
    while (k < limitCount) {
      limits(i * limitCount + k) = of(k)
      leastLimit(k) = math.min(leastLimit(k), of(k))
      greatestLimit(k) = math.max(greatestLimit(k), of(k))
      queues(k) = null
      k += 1
    }
    leastTime = math.min(leastTime, time)
    greatestTime = math.max(greatestTime, time)
    link(i)
    count += 1
    alive += 1
  }

  def setId(i: Int, id: Long): Unit = ids(i) = id

  def setMatched(i: Int, matched: Boolean): Unit =
    flags(i) = (if (matched) flags(i) | Matched else flags(i) & ~Matched).toByte

  def setGone(i: Int, gone: Boolean): Unit = {
    flags(i) = (if (gone) flags(i) | Gone else flags(i) & ~Gone).toByte
    alive += (if (gone) -1 else 1)
  }

  /** The newest row in the chain of a key, or -1; rows of other keys are in it too. */
  def newest(key: Long): Int = index(slot(key)) - 1

  /** The next older row in the chain, or -1. */
  def next(i: Int): Int = older(i) - 1

  /** Bytes held in memory. */
  def allocated: Long =
    bytes.allocated + keys.length * (4L * 8 + 1 + 4) + limits.length * 8L + index.length * 4L

  def seal(): Unit = {
    sealedCount = count
    sealedBytes = bytes.mark
  }

  /** Forgets the rows that were appended since the last version was sealed. */
  def rollback(): Unit = {
    while (count > sealedCount) {
      count -= 1
      if (!isGone(count)) alive -= 1
      index(slot(keys(count))) = older(count)
    }
    bytes.reset(sealedBytes)
    // rows that had gone may be back: a lower bound that is too low makes them be looked for
    Arrays.fill(leastLimit, Long.MinValue)
    Arrays.fill(queues.asInstanceOf[Array[AnyRef]], null)
  }

  private def link(i: Int): Unit = {
    val s = slot(keys(i))
    older(i) = index(s)
    index(s) = i + 1
  }

  private def slot(key: Long): Int = {
    val h = key * 0x9e3779b97f4a7c15L
    (h >>> 32).toInt & (index.length - 1)
  }

  private def grow(): Unit = {
    val capacity = keys.length * 2
    keys = Arrays.copyOf(keys, capacity)
    times = Arrays.copyOf(times, capacity)
    places = Arrays.copyOf(places, capacity)
    ids = Arrays.copyOf(ids, capacity)
    limits = Arrays.copyOf(limits, capacity * limitCount)
    flags = Arrays.copyOf(flags, capacity)
    older = Arrays.copyOf(older, capacity)
    index = emptyIndex(capacity)
    for (i <- 0 until count) link(i)
  }
}

private object Segment {
  private val InitialRows = 64
  private val Matched: Byte = 1
  private val Gone: Byte = 2

  private def emptyIndex(rows: Int): Array[Int] = new Array[Int](rows * 2)
}
