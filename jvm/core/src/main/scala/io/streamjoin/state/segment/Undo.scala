package io.streamjoin.state.segment

import java.util.Arrays
import java.util.function.ObjIntConsumer

import scala.collection.mutable

/** Rows of segments, in the order of the changes. */
private[segment] sealed class RowList {
  private var segments = new Array[Segment](16)
  private var rows = new Array[Int](16)
  private var count = 0

  def length: Int = count

  /** Adds a row that is in memory, or in the window of the disk. */
  def add(segment: Segment, row: Int): Unit = {
    if (count == rows.length) {
      segments = Arrays.copyOf(segments, count * 2)
      rows = Arrays.copyOf(rows, count * 2)
    }
    segments(count) = segment
    rows(count) = row
    count += 1
  }

  def foreach(visitor: ObjIntConsumer[Segment]): Unit = {
    var i = 0
    while (i < count) {
      visitor.accept(segments(i), rows(i))
      i += 1
    }
  }

  def clear(): Unit = {
    Arrays.fill(segments.asInstanceOf[Array[AnyRef]], 0, count, null)
    count = 0
  }
}

/** Rows of which a checkpoint reports the ids, as far as they are of earlier versions. */
private[segment] final class ReportedRows extends RowList {

  /** Read at once: the row may be on the disk later. */
  private var ids = new Array[Long](16)
  private var earlier = 0

  override def add(segment: Segment, row: Int): Unit = {
    super.add(segment, row)
    if (!segment.isFresh(row)) {
      if (earlier == ids.length) ids = Arrays.copyOf(ids, earlier * 2)
      ids(earlier) = segment.id(row)
      earlier += 1
    }
  }

  /** The ids of rows of earlier versions. */
  def idsOfEarlier: Array[Long] = Arrays.copyOf(ids, earlier)

  override def clear(): Unit = {
    super.clear()
    earlier = 0
  }
}

/** Changes of one side since the last version was sealed, without appended rows. */
private[segment] final class Undo {

  /** Rows that were joined for the first time. */
  val marked: ReportedRows = new ReportedRows

  /** Rows that were removed one by one. */
  val removed: ReportedRows = new ReportedRows

  /**
   * Rows that were evicted by the watermark that drops segments: the rest of their segment
   * follows.
   */
  val evicted: RowList = new RowList

  /** Rows that were evicted by another watermark, whose segment may stay for long. */
  val outlived: RowList = new RowList

  /** Segments that were dropped. */
  val dropped: mutable.ArrayBuffer[Segment] = mutable.ArrayBuffer.empty

  def clear(): Unit = {
    marked.clear()
    removed.clear()
    evicted.clear()
    outlived.clear()
    dropped.clear()
  }
}
