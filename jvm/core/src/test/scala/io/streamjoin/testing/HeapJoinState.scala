package io.streamjoin.testing

import java.util.Arrays

import scala.collection.mutable

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.{BufferedRow, JoinState, Probed}

/**
 * Reference state: rows by key, sorted by time at the first probe after an append. An eviction
 * reads every row.
 *
 * @param copy copies a row so that it can be kept after the call
 */
final class HeapJoinState[R](copy: R => R) extends JoinState[R] {

  private val of = BySide.of(_ => new HeapSide[R])
  private var sequence = 0L

  override def probe(side: Side, key: Long, from: Long, to: Long): Probed[R] =
    new HeapCursor(of(side), of(side).probe(key, from, to))

  override def append(
      side: Side,
      key: Long,
      time: Long,
      limits: Array[Long],
      row: R,
      matched: Boolean
  ): Unit = {
    of(side).add(new HeapRow(copy(row), key, time, sequence, limits.clone(), matched))
    sequence += 1
  }

  override def evict(
      side: Side,
      before: Array[Long],
      now: Array[Long]
  ): Iterator[BufferedRow[R]] = of(side).evict(now)

  override def discard(side: Side, before: Array[Long], now: Array[Long]): Long =
    evict(side, before, now).length.toLong

  override def least(side: Side, k: Int): Long =
    all(side).map(_.limits(k)).minOption.getOrElse(Long.MaxValue)

  override def leastUnmatched(side: Side, k: Int): Long =
    all(side).filter(!_.matched).map(_.limits(k)).minOption.getOrElse(Long.MaxValue)

  override def size(side: Side): Long = of(side).size

  /** All rows of a side, in any order. */
  def all(side: Side): Iterator[HeapRow[R]] = of(side).all
}

/**
 * A row on the heap.
 *
 * @param time the time that probes compare
 * @param sequence distinguishes rows of the same key and time
 * @param limits for each limit of its side, the watermark above which the row is evicted
 */
final class HeapRow[R](
    override val row: R,
    override val key: Long,
    override val time: Long,
    val sequence: Long,
    val limits: Array[Long],
    var matched: Boolean
) extends BufferedRow[R] {

  /** Whether the row has been removed from its buffer. */
  private[testing] var removed: Boolean = false

  /** Whether some limit is below its watermark. */
  private[testing] def expired(watermarks: Array[Long]): Boolean = {
    var k = 0
    while (k < watermarks.length) {
      if (limits(k) < watermarks(k)) return true
      k += 1
    }
    false
  }
}

private final class HeapCursor[R](side: HeapSide[R], found: Iterator[HeapRow[R]])
    extends Probed[R] {
  private var at: HeapRow[R] = _

  override def hasNext: Boolean = found.hasNext

  override def next(): HeapRow[R] = {
    at = found.next()
    at
  }

  override def setMatched(): Unit = at.matched = true

  override def remove(): Unit = side.remove(at)

  override def close(): Unit = ()
}

/** The rows of one side by key. The rows of a key are sorted by time when they are read. */
private final class HeapSide[R] {
  private val byKey = mutable.LongMap.empty[KeyRows[R]]
  private var count = 0L

  def size: Long = count

  def add(row: HeapRow[R]): Unit = {
    byKey.getOrElseUpdate(row.key, new KeyRows[R]).add(row)
    count += 1
  }

  def probe(key: Long, from: Long, to: Long): Iterator[HeapRow[R]] =
    byKey.get(key).fold(Iterator.empty[HeapRow[R]])(_.range(from, to))

  def remove(row: HeapRow[R]): Unit =
    if (!row.removed) {
      byKey(row.key).remove(row)
      count -= 1
    }

  def evict(now: Array[Long]): Iterator[HeapRow[R]] = {
    val evicted = mutable.ArrayBuffer.empty[HeapRow[R]]
    byKey.filterInPlace { (_, rows) =>
      rows.evict(now, evicted)
      rows.nonEmpty
    }
    count -= evicted.length
    evicted.iterator
  }

  def all: Iterator[HeapRow[R]] = byKey.valuesIterator.flatMap(_.all)
}

/**
 * Rows of one key. A removed row keeps its place, so that the order by time holds, until more than
 * half of the places are of removed rows.
 */
private final class KeyRows[R] {
  private var rows = new Array[HeapRow[R]](4)
  private var length = 0
  private var dead = 0
  private var sorted = true

  def nonEmpty: Boolean = length > dead

  def add(row: HeapRow[R]): Unit = {
    if (length == rows.length) rows = Arrays.copyOf(rows, length * 2)
    sorted = sorted && (length == 0 || rows(length - 1).time <= row.time)
    rows(length) = row
    length += 1
  }

  def range(from: Long, to: Long): Iterator[HeapRow[R]] = {
    tidy()
    new KeyRows.Range(rows, firstFrom(from), length, to)
  }

  def remove(row: HeapRow[R]): Unit = {
    row.removed = true
    dead += 1
  }

  def evict(now: Array[Long], evicted: mutable.ArrayBuffer[HeapRow[R]]): Unit =
    all.filter(_.expired(now)).foreach { row =>
      evicted += row
      remove(row)
    }

  def all: Iterator[HeapRow[R]] = rows.iterator.take(length).filterNot(_.removed)

  private def tidy(): Unit = {
    if (dead * 2 > length) {
      val live = all.toArray[AnyRef]
      System.arraycopy(live, 0, rows, 0, live.length)
      Arrays.fill(rows.asInstanceOf[Array[AnyRef]], live.length, length, null)
      length = live.length
      dead = 0
    }
    if (!sorted) {
      Arrays.sort(rows, 0, length, KeyRows.byTime[R])
      sorted = true
    }
  }

  private def firstFrom(from: Long): Int = {
    var (lo, hi) = (0, length)
    while (lo < hi) {
      val middle = (lo + hi) >>> 1
      if (rows(middle).time < from) lo = middle + 1 else hi = middle
    }
    lo
  }
}

private object KeyRows {

  /** The rows from `start` that are not removed and whose time is at most `to`. */
  final class Range[R](rows: Array[HeapRow[R]], start: Int, end: Int, to: Long)
      extends Iterator[HeapRow[R]] {
    private var i = start

    override def hasNext: Boolean = {
      while (i < end && rows(i).removed) i += 1
      i < end && rows(i).time <= to
    }

    override def next(): HeapRow[R] = {
      if (!hasNext) throw new NoSuchElementException("no more rows in this range")
      i += 1
      rows(i - 1)
    }
  }

  def byTime[R]: java.util.Comparator[HeapRow[R]] =
    java.util.Comparator.comparingLong[HeapRow[R]](_.time)
}
