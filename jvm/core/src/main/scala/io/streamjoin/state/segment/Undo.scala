package io.streamjoin.state.segment

import java.util.Arrays

import scala.collection.mutable

/** Is shown rows in their places: without an object for each number. */
private[segment] trait RowVisitor {
  def visit(segment: Segment, row: Int): Unit
}

/** Rows of segments, in the order in which something happened to them. */
private[segment] sealed class RowList {
  private var segments = new Array[Segment](16)
  private var rows = new Array[Int](16)
  private var count = 0

  def length: Int = count

  /** The row is in memory, or shown. */
  def add(segment: Segment, row: Int): Unit = {
    if (count == rows.length) {
      segments = Arrays.copyOf(segments, count * 2)
      rows = Arrays.copyOf(rows, count * 2)
    }
    segments(count) = segment
    rows(count) = row
    count += 1
  }

  def foreach(visitor: RowVisitor): Unit = {
    var i = 0
    while (i < count) {
      visitor.visit(segments(i), rows(i))
      i += 1
    }
  }

  def clear(): Unit = {
    Arrays.fill(segments.asInstanceOf[Array[AnyRef]], 0, count, null)
    count = 0
  }
}

/** The same where a checkpoint tells which rows of earlier versions these are. */
private[segment] final class ReportedRows extends RowList {

  /** Noted while the row is at hand: later it may lie on the disk. */
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

/** What has been done to one side since the last version was sealed, beside rows that were appended. */
private[segment] final class Undo {

  /** Rows that have been joined for the first time. */
  val marked: ReportedRows = new ReportedRows

  /** Rows that were taken away one by one. */
  val removed: ReportedRows = new ReportedRows

  /** Rows that went because of the watermark by which segments go: the rest of theirs follows. */
  val evicted: RowList = new RowList

  /** Rows that went because of another watermark, and that their segment may outlive by far. */
  val outlived: RowList = new RowList

  /** Segments of which no row is left. */
  val dropped: mutable.ArrayBuffer[Segment] = mutable.ArrayBuffer.empty

  def clear(): Unit = {
    marked.clear()
    removed.clear()
    evicted.clear()
    outlived.clear()
    dropped.clear()
  }
}
