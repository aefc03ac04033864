package io.streamjoin.state.segment

import java.util.Arrays

import scala.collection.mutable

import io.streamjoin.bounds.Saturated

/**
 * The segments of one side.
 *
 * {{{
 *   open     take rows; in ascending order of their first limits, which do not overlap
 *   closed   take no more rows, in no order; their rows are searched on the disk
 * }}}
 *
 * A closed segment stays on the disk while rows still arrive for its limits: such a row opens
 * another segment.
 *
 * @param span how far apart the first limits of the rows of one segment may be, see
 *   [[SegmentWidth]]
 * @param create makes a segment for limits from one to another
 */
private[segment] final class SegmentList(span: Long, create: (Long, Long) => Segment) {
  private var open = new Array[Segment](16)
  private var openCount = 0
  private val closed = mutable.ArrayBuffer.empty[Segment]
  private val width = new SegmentWidth(span)

  /** Whether rows were appended, or the list was changed, since [[inOrder]] was last called. */
  private var changed = true

  def hasChanged: Boolean = changed

  def size: Int = openCount + closed.length

  def all: Iterator[Segment] = closed.iterator ++ opened

  def opened: Iterator[Segment] = open.iterator.take(openCount)

  /** The segments in the order of their limits, followed by empty places; it counts until the next change. */
  def inOrder(): Array[Segment] = {
    changed = false
    if (closed.isEmpty) open else ascending
  }

  private def ascending: Array[Segment] = all.toArray.sortBy(_.low)

  /** Those first whose rows stay longest. */
  def latestFirst: Iterator[Segment] = ascending.reverseIterator

  /** The least limit `k` of all rows; `Long.MaxValue` if there is none. */
  def least(k: Int): Long = all.map(_.least(k)).minOption.getOrElse(Long.MaxValue)

  /** Bytes of rows in memory. */
  def rowBytes: Long = all.map(_.bytes.allocated).sum

  // ---- the segment of a row ----

  /** The open segment for a row that is about to be appended. */
  def forRow(limit: Long): Segment = {
    changed = true
    val at = place(limit)
    val segment =
      if (at < openCount && open(at).low <= limit) open(at) else insert(at, limit)
    width.rowCame()
    segment
  }

  /** The number of the first segment whose rows may have limits of this or more. */
  private def place(limit: Long): Int = {
    // almost all rows belong to the last segments
    if (openCount > 0 && limit >= open(openCount - 1).low) {
      return if (limit <= open(openCount - 1).high) openCount - 1 else openCount
    }
    var (lo, hi) = (0, openCount)
    while (lo < hi) {
      val middle = (lo + hi) >>> 1
      if (open(middle).high < limit) lo = middle + 1 else hi = middle
    }
    lo
  }

  private def insert(at: Int, limit: Long): Segment = {
    width.opens()
    val start = Saturated.subtract(limit, Math.floorMod(limit, width.ofNext))
    val low = if (at == 0) start else math.max(start, open(at - 1).high + 1)
    val end = Saturated.add(start, width.ofNext - 1)
    val high = if (at == openCount) end else math.min(end, open(at).low - 1)
    if (openCount == open.length) open = Arrays.copyOf(open, openCount * 2)
    System.arraycopy(open, at, open, at + 1, openCount - at)
    val segment = create(math.min(low, limit), math.max(high, limit))
    open(at) = segment
    openCount += 1
    segment
  }

  // ---- changes of the list ----

  /** Closes an open segment: a row that arrived for it would recall all of it. */
  def close(segment: Segment): Unit = {
    segment.close()
    closed += segment
    val at = open.indexOf(segment)
    System.arraycopy(open, at + 1, open, at, openCount - at - 1)
    openCount -= 1
    open(openCount) = null
    changed = true
  }

  /** Takes out the segments for which this holds, and returns them. */
  def remove(which: Segment => Boolean): Array[Segment] = {
    val (some, left) = all.toArray.partition(which)
    if (some.nonEmpty) reset(left)
    some
  }

  /** Consists of these segments from now on. */
  def reset(segments: Array[Segment]): Unit = {
    val (full, left) = segments.sortBy(_.low).partition(_.isClosed)
    closed.clear()
    closed ++= full
    open = Arrays.copyOf(left, math.max(16, left.length))
    openCount = left.length
    changed = true
  }
}
