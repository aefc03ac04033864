package io.streamjoin.state.segment

import java.util.Arrays

import scala.collection.mutable

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks
import io.streamjoin.state.{BufferedRow, Probed, Watched}

/**
 * The buffered rows of one side, in segments in ascending order of their first limit.
 *
 * Everything done since the last version was sealed can be undone, for a task may fail, or run once
 * more.
 *
 * @param limitCount how many limits a row has
 * @param span how far apart the first limits of rows of one segment may be, more while segments have
 *   few rows; 1 where a row can match at any distance, so that a probe goes through all segments
 * @param file for rows that memory is too short for
 * @param timeIndex whether rows of a key are found by one time without a walk over the others
 * @param watched of what else the least is asked for
 * @param recalled is told when rows have come back from the file, and may refuse it
 * @param mayRecall whether so many bytes may come back that could be left there
 * @param searchedFrom segments of so many rows are searched in the file
 */
private[segment] final class SegmentSide[R](
    limitCount: Int,
    span: Long,
    codec: RowCodec[R],
    file: SpillFile,
    timeIndex: Boolean = false,
    watched: Watched[R] = Watched.nothing[R],
    recalled: () => Unit = () => (),
    mayRecall: Long => Boolean = _ => false,
    searchedFrom: Int = Spilling.SearchedFrom
) {
  import SegmentSide._

  /** Those that take rows. */
  private var segments = new Array[Segment](16)
  private var used = 0

  /** Those that went to the disk while rows could still come for their limits, in no order; such rows get a new segment. */
  private val closed = mutable.ArrayBuffer.empty[Segment]

  /** All of them, in the order in which a probe looks at them. */
  private var probed = segments
  private var probedCount = 0
  private val width = new SegmentWidth(span)
  private var total = 0L

  private var evictedTo = Array.fill(limitCount)(Long.MinValue)
  private var sealedEvictedTo = evictedTo

  private val times = new TimeRanges
  private var timesChanged = true

  private val undo = new Undo
  private val disk = new SpilledBytes(file, recalled, mayRecall, searchedFrom)
  private val cursor = new Cursor
  private val shown = new Shown

  private val numberCount = limitCount + watched.count
  private val numbers = new Array[Long](numberCount)

  def size: Long = total

  /** The watermarks, by limit, of the last eviction. */
  def watermarks: Array[Long] = evictedTo

  def append(
      key: Long,
      time: Long,
      limits: Array[Long],
      row: R,
      matched: Boolean,
      id: Long = NoId
  ): Unit = {
    val segment = segmentFor(if (limitCount == 0) Long.MaxValue else limits(0))
    segment.append(key, time, numbersOf(row, limits), row, codec, matched, id)
    total += 1
    width.rowCame()
    timesChanged = true
  }

  private def numbersOf(row: R, limits: Array[Long]): Array[Long] =
    if (watched.count == 0) limits
    else {
      System.arraycopy(limits, 0, numbers, 0, limitCount)
      watched.read(row, numbers, limitCount)
      numbers
    }

  /** The least limit `k` of all rows, or of what is watched, see [[io.streamjoin.state.JoinState.least]]. */
  def least(k: Int): Long =
    if (k >= numberCount) Watermarks.Unknown
    else if (k == 0 && limitCount > 0) {
      // the first of those that take rows has it
      val first = segments.iterator.take(used).find(_.live > 0)
      (first.iterator ++ closed).map(_.least(0)).minOption.getOrElse(Long.MaxValue)
    } else all.map(_.least(k)).minOption.getOrElse(Long.MaxValue)

  private def all: Iterator[Segment] = closed.iterator ++ segments.iterator.take(used)

  /** The same of rows that have not been joined. Looks at the rows of segments until nothing less can follow. */
  def leastUnmatched(k: Int): Long =
    if (k >= numberCount) Watermarks.Unknown
    else {
      def mayBe(segment: Segment): Long =
        if (k == 0 && limitCount > 0) segment.low else segment.least(k)
      all.foldLeft(Long.MaxValue) { (found, segment) =>
        if (mayBe(segment) >= found) found else math.min(found, segment.leastUnmatched(k))
      }
    }

  /** Rows of this key and time, in no order. */
  def probe(key: Long, from: Long, to: Long): Probed[R] = {
    if (timesChanged) {
      probed = if (closed.isEmpty) segments else inOrder
      probedCount = used + closed.length
      times.gather(probed, probedCount)
      timesChanged = false
    }
    cursor.start(key, from, to)
    cursor
  }

  private def inOrder: Array[Segment] = all.toArray.sortBy(_.low)

  /** Takes away each row of which some limit is below its watermark; to be read to its end. */
  def evict(watermarks: Array[Long]): Iterator[BufferedRow[R]] = {
    val whole = drop(watermarks)
    new Whole(whole) ++ all.filter(_.mayBeBelow(watermarks)).flatMap(new Below(_, watermarks))
  }

  /** The same without a look at rows that go with all others of their segment. */
  def discard(watermarks: Array[Long]): Unit = {
    drop(watermarks)
    for (segment <- all if segment.mayBeBelow(watermarks))
      new Below(segment, watermarks).foreach(_ => ())
  }

  /** Numbers the rows that were appended since the last version was sealed, and tells how many. */
  def number(firstId: Long): Long = {
    var id = firstId
    foreachFresh { (segment, i) =>
      segment.setId(i, id)
      id += 1
    }
    id - firstId
  }

  /** The rows that were appended since the last version was sealed, without those that have gone. */
  def foreachFresh(visitor: RowVisitor): Unit =
    for (s <- 0 until used) {
      val segment = segments(s)
      segment.foreachFresh(row => visitor.visit(segment, row))
    }

  /** The ids of rows of earlier versions that have been joined since. */
  def markedIds: Array[Long] = undo.marked.idsOfEarlier

  /** The ids of rows of earlier versions that have been taken away one by one since. */
  def removedIds: Array[Long] = undo.removed.idsOfEarlier

  /** All rows, shown one after another. */
  def foreach(visit: HeldRow[R] => Unit): Unit =
    new Whole(all).foreach(visit)

  def seal(): Unit = {
    undo.dropped.foreach(_.release())
    sealedEvictedTo = evictedTo
    all.foreach(_.seal())
    for (list <- Seq(undo.removed, undo.outlived)) list.foreach(_.reclaim(_))
    if (undo.removed.length + undo.outlived.length > 0) all.foreach(_.compact())
    undo.clear()
    val few = closed.filter(segment => !segment.areSpilled && segment.live < searchedFrom)
    if (few.nonEmpty) moveOut(few)
  }

  /** The few rows that closed segments are left with go to those that take rows. There must be nothing to be undone. */
  private def moveOut(some: mutable.ArrayBuffer[Segment]): Unit = {
    closed --= some
    total -= some.map(_.live.toLong).sum
    val limits = new Array[Long](limitCount)
    for (row <- new Whole(some.iterator)) {
      for (k <- limits.indices) limits(k) = row.limit(k)
      append(row.key, row.time, limits, row.row, row.matched, shown.id)
    }
    some.foreach(_.release())
    for (s <- 0 until used) segments(s).seal()
    timesChanged = true
  }

  /** Begins with what earlier evictions took away already gone. */
  def restore(watermarks: Array[Long]): Unit = evictedTo = watermarks.clone()

  def rollback(): Unit = {
    undo.marked.foreach(_.setMatched(_, matched = false))
    for (list <- Seq(undo.removed, undo.evicted, undo.outlived)) list.foreach { (segment, i) =>
      segment.setGone(i, gone = false)
    }
    val before = (all ++ undo.dropped).toArray
    undo.clear()
    before.foreach(_.rollback())
    val (some, none) = before.partition(_.live > 0)
    none.foreach(_.release())
    val (full, left) = some.sortBy(_.low).partition(_.isClosed)
    closed.clear()
    closed ++= full
    segments = Arrays.copyOf(left, math.max(16, left.length))
    used = left.length
    timesChanged = true
    total = some.map(_.live.toLong).sum
    evictedTo = sealedEvictedTo
  }

  def allocated: Long = all.map(_.allocated).sum

  /** How many bytes of rows are in memory. */
  def rowBytes: Long = all.map(_.bytes.allocated).sum

  /**
   * Moves bytes of rows to the disk until so much memory is free, or nothing is left to move: those
   * first that stay longest, for what goes soon would be written for nothing.
   */
  def spill(wanted: Long): Unit = {
    var freed = 0L
    for (segment <- inOrder.reverseIterator if freed < wanted)
      freed += segment.spill(wanted - freed)
  }

  /**
   * Moves the numbers of rows to the disk that nothing has come to for some versions, until so much memory is
   * free, or none is left.
   *
   * @return how many bytes have become free
   */
  def spillNumbers(wanted: Long): Long = {
    var freed = 0L
    for (segment <- inOrder.reverseIterator if freed < wanted && segment.isIdle)
      freed += spillNumbers(segment)
    freed
  }

  /** How many bytes [[spillLargest]] would free, 0 where there is no such segment. */
  def largest: Long = searchable.map(_.numberBytes).maxOption.getOrElse(0L)

  /**
   * Moves the numbers of the segment to the disk that has most of them and can be searched there, whether or not
   * batches come to it: one large one, and not each time a part of all.
   *
   * @return how many bytes have become free
   */
  def spillLargest(): Long = searchable.maxByOption(_.numberBytes).fold(0L)(spillNumbers)

  private def searchable: Iterator[Segment] = all.filter(_.canBeSearched)

  private def spillNumbers(segment: Segment): Long = {
    val freed = segment.spillNumbers()
    if (segment.isSearched && !segment.isClosed) close(segment)
    freed
  }

  /** A row that came for it would bring all of it back. */
  private def close(segment: Segment): Unit = {
    segment.close()
    closed += segment
    val at = segments.indexOf(segment)
    System.arraycopy(segments, at + 1, segments, at, used - at - 1)
    used -= 1
    segments(used) = null
    timesChanged = true
  }

  private def lose(segment: Segment, i: Int, list: RowList): Unit = {
    segment.setGone(i, gone = true)
    list.add(segment, i)
    total -= 1
  }

  // ---- where a row belongs ----

  /** The number of the first segment whose rows may have limits of this or more. */
  private def place(limit: Long): Int = {
    // almost all rows belong to the last segments
    if (used > 0 && limit >= segments(used - 1).low) {
      return if (limit <= segments(used - 1).high) used - 1 else used
    }
    var (lo, hi) = (0, used)
    while (lo < hi) {
      val middle = (lo + hi) >>> 1
      if (segments(middle).high < limit) lo = middle + 1 else hi = middle
    }
    lo
  }

  private def segmentFor(limit: Long): Segment = {
    val at = place(limit)
    if (at < used && segments(at).low <= limit) segments(at) else insert(at, limit)
  }

  private def insert(at: Int, limit: Long): Segment = {
    width.opens()
    val start = limit - Math.floorMod(limit, width.ofNext)
    val low = if (at == 0) start else math.max(start, segments(at - 1).high + 1)
    val end = Saturated.add(start, width.ofNext - 1)
    val high = if (at == used) end else math.min(end, segments(at).low - 1)
    if (used == segments.length) segments = Arrays.copyOf(segments, used * 2)
    System.arraycopy(segments, at, segments, at + 1, used - at)
    // it will be as full as the one before it
    val expected = if (at > 0) segments(at - 1).length else 0
    val segment =
      new Segment(
        math.min(low, limit),
        math.max(high, limit),
        limitCount,
        disk,
        timeIndex,
        expected,
        watched.count
      )
    segments(at) = segment
    used += 1
    segment
  }

  // ---- what goes ----

  /** Takes the segments away of which all rows go, and returns them. */
  private def drop(watermarks: Array[Long]): Iterator[Segment] = {
    evictedTo = watermarks.clone()
    val first = undo.dropped.length
    def goes(segment: Segment): Boolean = {
      val all = segment.live == 0 || segment.allBelow(watermarks)
      if (all) {
        undo.dropped += segment
        total -= segment.live
      }
      all
    }
    closed.filterInPlace(!goes(_))
    var kept = 0
    for (s <- 0 until used) {
      val segment = segments(s)
      if (!goes(segment)) {
        segments(kept) = segment
        kept += 1
      }
    }
    Arrays.fill(segments.asInstanceOf[Array[AnyRef]], kept, used, null)
    used = kept
    timesChanged = true
    undo.dropped.iterator.drop(first)
  }

  /** All rows of some segments, shown by one object: for a row none is made. */
  private final class Whole(some: Iterator[Segment]) extends Iterator[HeldRow[R]] {
    private var segment: Segment = _
    private var i = 0

    override def hasNext: Boolean = {
      skipGone()
      while ((segment == null || i == segment.length) && some.hasNext) {
        segment = some.next()
        i = 0
        skipGone()
      }
      segment != null && i < segment.length
    }

    private def skipGone(): Unit =
      if (segment != null) while (i < segment.length && segment.isGone(i)) i += 1

    override def next(): HeldRow[R] = {
      if (!hasNext) throw new NoSuchElementException("no more rows of these segments")
      i += 1
      shown.show(segment, i - 1)
    }
  }

  /** The rows of a segment of which some limit is below its watermark, alike; they are taken away as they are shown. */
  private final class Below(segment: Segment, watermarks: Array[Long])
      extends Iterator[BufferedRow[R]] {
    private var k = 0
    private var i = -1

    override def hasNext: Boolean = {
      while (i < 0 && k < watermarks.length) {
        i = segment.nextBelow(k, watermarks(k))
        if (i < 0) k += 1
      }
      i >= 0
    }

    override def next(): BufferedRow[R] = {
      if (!hasNext) throw new NoSuchElementException("no more rows of this eviction")
      lose(segment, i, if (k == 0) undo.evicted else undo.outlived)
      val gone = shown.show(segment, i)
      i = -1
      gone
    }
  }

  /** A row in its place. */
  private abstract class Placed extends HeldRow[R] {
    def segment: Segment
    def at: Int

    override def row: R = segment.bytes.read(segment.place(at), codec)
    override def key: Long = segment.key(at)
    override def time: Long = segment.time(at)
    override def limit(k: Int): Long = segment.limit(at, k)
    override def matched: Boolean = segment.isMatched(at)
  }

  private final class Shown extends Placed {
    private var in: Segment = _
    private var place = -1

    override def segment: Segment = in
    override def at: Int = place

    def id: Long = in.id(place)

    def show(segment: Segment, at: Int): this.type = {
      segment.show(at)
      in = segment
      place = at
      this
    }
  }

  private final class Cursor extends Placed with Probed[R] {
    private val walk = new ChainWalk

    override def segment: Segment = probed(walk.segment)
    override def at: Int = walk.row

    def start(key: Long, from: Long, to: Long): Unit =
      walk.start(key, from, to, probed, probedCount, times, timeIndex)

    override def hasNext: Boolean = walk.hasNext(probed)

    override def next(): BufferedRow[R] = {
      if (!hasNext) throw new NoSuchElementException("no more rows of this probe")
      walk.next()
      segment.show(at)
      this
    }

    override def setMatched(): Unit = if (!matched) {
      segment.setMatched(at, matched = true)
      undo.marked.add(segment, at)
    }

    override def remove(): Unit = if (!segment.isGone(at)) lose(segment, at, undo.removed)

    override def close(): Unit = walk.stop()
  }
}

private[segment] object SegmentSide {

  /** The number of a row that has not been committed. */
  val NoId: Long = -1L
}
