package io.streamjoin.state.segment

import java.util.function.ObjIntConsumer

import io.streamjoin.model.Watermarks
import io.streamjoin.state.{BufferedRow, Probed, Watched}
import io.streamjoin.state.segment.pages.{RowCodec, SpilledBytes}

/**
 * The buffered rows of one side, in segments in ascending order of their first limit.
 *
 * Everything done since the last version was sealed can be undone: a task may fail, or run
 * again.
 *
 * @param limitCount how many limits a row has
 * @param span how far apart the first limits of a segment may be, more while segments have few
 *   rows. 1 if a row can match at any distance: then a probe visits all segments
 * @param disk for the rows that do not fit into memory
 * @param timeIndex whether a probe finds rows by key and one time without a walk over the key
 * @param watched further numbers of which the least is required
 */
private[segment] final class SegmentSide[R](
    limitCount: Int,
    span: Long,
    codec: RowCodec[R],
    disk: SpilledBytes,
    timeIndex: Boolean = false,
    watched: Watched[R] = Watched.nothing[R]
) {
  import SegmentSide._

  val segments: SegmentList = new SegmentList(
    span,
    new Segment(_, _, limitCount, disk, timeIndex, watched.count)
  )

  /** The segments as a probe visits them, and the times of their rows. */
  private var probed = Array.empty[Segment]
  private val times = new TimeRanges
  private var total = 0L

  private var evictedTo = Array.fill(limitCount)(Long.MinValue)
  private var sealedEvictedTo = evictedTo

  private val undo = new Undo
  private val cursor = new Cursor
  private val shown = new ShownRow(codec)

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
    val segment = segments.forRow(if (limitCount == 0) Long.MaxValue else limits(0))
    segment.append(key, time, numbersOf(row, limits), row, codec, matched, id)
    total += 1
  }

  private def numbersOf(row: R, limits: Array[Long]): Array[Long] =
    if (watched.count == 0) limits
    else {
      System.arraycopy(limits, 0, numbers, 0, limitCount)
      watched.read(row, numbers, limitCount)
      numbers
    }

  /**
   * The least limit `k` of all rows, or watched number, see
   * [[io.streamjoin.state.JoinState.least]].
   */
  def least(k: Int): Long =
    if (k >= numberCount) Watermarks.Unknown else segments.least(k)

  /**
   * The same for rows that have not been joined. It reads rows of segments until no lower one
   * can follow.
   */
  def leastUnmatched(k: Int): Long =
    if (k >= numberCount) Watermarks.Unknown
    else
      segments.all.foldLeft(Long.MaxValue) { (found, segment) =>
        if (segment.least(k) >= found) found else math.min(found, segment.leastUnmatched(k))
      }

  /** Rows of this key and time, in no order. */
  def probe(key: Long, from: Long, to: Long): Probed[R] = {
    if (segments.hasChanged) {
      probed = segments.inOrder()
      times.gather(probed, segments.size)
    }
    cursor.start(key, from, to)
    cursor
  }

  /** Evicts each row of which some limit is below its watermark; to be read to its end. */
  def evict(watermarks: Array[Long]): Iterator[BufferedRow[R]] = {
    val whole = drop(watermarks)
    rowsOf(whole) ++
      segments.all.filter(_.someBelow(watermarks)).flatMap(evictFrom(_, watermarks))
  }

  /** The number of these rows; none that is evicted with its whole segment is read. */
  def discard(watermarks: Array[Long]): Long = {
    val before = total
    drop(watermarks)
    for (segment <- segments.all if segment.someBelow(watermarks))
      evictFrom(segment, watermarks).foreach(_ => ())
    before - total
  }

  /** Drops the segments of which all rows are evicted, and returns them. */
  private def drop(watermarks: Array[Long]): Iterator[Segment] = {
    evictedTo = watermarks.clone()
    val whole = segments.remove(segment => segment.live == 0 || segment.allBelow(watermarks))
    undo.dropped ++= whole
    total -= whole.map(_.live.toLong).sum
    whole.iterator
  }

  /**
   * Numbers the live rows that were appended since the last version was sealed, and returns
   * their count.
   */
  def number(firstId: Long): Long = {
    var id = firstId
    foreachFresh { (segment, i) =>
      segment.setId(i, id)
      id += 1
    }
    id - firstId
  }

  /** Visits the live rows that were appended since the last version was sealed. */
  def foreachFresh(visitor: ObjIntConsumer[Segment]): Unit =
    for (segment <- segments.opened) segment.foreachFresh(row => visitor.accept(segment, row))

  /** The ids of rows of earlier versions that have been joined since. */
  def markedIds: Array[Long] = undo.marked.idsOfEarlier

  /** The ids of rows of earlier versions that were removed one by one since. */
  def removedIds: Array[Long] = undo.removed.idsOfEarlier

  /** Visits all rows, one after another. */
  def foreach(visit: StateRow[R] => Unit): Unit = rowsOf(segments.all).foreach(visit)

  private def rowsOf(some: Iterator[Segment]): Iterator[StateRow[R]] =
    for {
      segment <- some
      i <- Iterator.range(0, segment.length) if !segment.isDeleted(i)
    } yield shown.show(segment, i)

  def seal(): Unit = {
    undo.dropped.foreach(_.release())
    sealedEvictedTo = evictedTo
    segments.all.foreach(_.seal())
    for (list <- Seq(undo.removed, undo.outlived)) list.foreach(_.reclaim(_))
    undo.clear()
    segments.remove(_.isSparse).foreach(move)
  }

  /**
   * Appends the live rows of a segment to others, and drops it. No more bytes of rows are in memory
   * afterwards than before. There must be nothing that can be undone.
   */
  private def move(segment: Segment): Unit = {
    total -= segment.live
    val inMemory = segment.bytes.allocated
    val limits = new Array[Long](limitCount)
    var bytes = 0L
    for (i <- segment.inOrderOfBytes()) {
      val row = shown.show(segment, i)
      for (k <- limits.indices) limits(k) = row.limit(k)
      append(row.key, row.time, limits, row.row, row.matched, row.id)
      bytes += row.size
      if (bytes > MovedAtOnce) {
        sealMoved(inMemory)
        bytes = 0L
      }
    }
    segment.release()
    sealMoved(inMemory)
  }

  /** @param most the most bytes of rows that stay in memory */
  private def sealMoved(most: Long): Unit =
    for (segment <- segments.opened if segment.hasFresh) {
      segment.seal()
      segment.spill(segment.bytes.allocated - most)
    }

  /** Restores the watermarks of the last eviction. */
  def restore(watermarks: Array[Long]): Unit = evictedTo = watermarks.clone()

  def rollback(): Unit = {
    undo.marked.foreach(_.setMatched(_, matched = false))
    for (list <- Seq(undo.removed, undo.evicted, undo.outlived)) list.foreach { (segment, i) =>
      segment.setDeleted(i, deleted = false)
    }
    val before = (segments.all ++ undo.dropped).toArray
    undo.clear()
    before.foreach(_.rollback())
    val (some, none) = before.partition(_.live > 0)
    none.foreach(_.release())
    segments.reset(some)
    total = some.map(_.live.toLong).sum
    evictedTo = sealedEvictedTo
  }

  def allocated: Long = segments.all.map(_.allocated).sum

  private def delete(segment: Segment, i: Int, list: RowList): Unit = {
    segment.setDeleted(i, deleted = true)
    list.add(segment, i)
    total -= 1
  }

  /**
   * The rows of a segment of which some limit is below its watermark. The iterator reuses one
   * object, and deletes the rows as it returns them.
   */
  private def evictFrom(segment: Segment, watermarks: Array[Long]): Iterator[BufferedRow[R]] =
    for {
      k <- watermarks.indices.iterator
      i <- Iterator.continually(segment.nextBelow(k, watermarks(k))).takeWhile(_ >= 0)
    } yield {
      delete(segment, i, if (k == 0) undo.evicted else undo.outlived)
      shown.show(segment, i)
    }

  private final class Cursor extends StateRow[R](codec) with Probed[R] {
    private val walk = new ChainWalk

    override private[segment] def segment: Segment = probed(walk.segment)
    override private[segment] def at: Int = walk.row

    def start(key: Long, from: Long, to: Long): Unit =
      walk.start(key, from, to, probed, segments.size, times, timeIndex)

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

    override def remove(): Unit = if (!segment.isDeleted(at)) delete(segment, at, undo.removed)

    override def close(): Unit = walk.stop()
  }
}

private[segment] object SegmentSide {

  /** The id of a row that has not been committed. */
  val NoId: Long = -1L

  /** The bytes of moved rows that come into memory before others leave it. */
  private val MovedAtOnce = 1 << 20
}
