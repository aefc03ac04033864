package io.streamjoin.state.segment.history

import java.io.DataOutputStream

import scala.collection.mutable

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.segment.index.SegmentLimits

/**
 * Reads the versions of a state from the newest to the oldest, so that deletions and matches of
 * a row are known before the row is read.
 */
final class History {
  private var newest: Option[ChangeHead] = None
  private var reader: ChangeReader = _
  private val marked = BySide.of(_ => mutable.LongMap.empty[Unit])
  private val removed = BySide.of(_ => mutable.LongMap.empty[Unit])

  private[segment] def head: ChangeHead =
    newest.getOrElse(throw new IllegalStateException("no version has been read"))

  /** By limit, those of the last eviction. */
  def watermarks(side: Side): Array[Long] = head.watermarks(side)

  /** Begins to read a version. */
  def begin(version: PackedInput): Unit = {
    reader = new ChangeReader(version)
    if (newest.isEmpty) newest = Some(reader.head)
  }

  /**
   * Reads the next row of the version that belongs to the newest. Returns false if there is none.
   * Then the version has been read to its end.
   */
  def next(row: ChangeRow): Boolean = {
    var found = reader.next(row)
    while (found && !belongs(row)) found = reader.next(row)
    if (!found) addIds()
    found
  }

  /** Visits the rows of the version that belong to the newest. */
  def add(version: PackedInput)(visit: ChangeRow => Unit): Unit = {
    begin(version)
    val row = new ChangeRow
    while (next(row)) visit(row)
  }

  private def belongs(row: ChangeRow): Boolean = {
    // a row is read once: its changes are not needed any more
    val deleted = takeOut(row.id, removed(row.side))
    val joined = takeOut(row.id, marked(row.side))
    row.matched = row.matched || joined
    !deleted && !SegmentLimits.isBelow(row.limits, head.watermarks(row.side))
  }

  /** These are rows of earlier versions. */
  private def addIds(): Unit = {
    val ids = reader.ids()
    for (side <- Side.both) {
      val (joined, deleted) = ids(side)
      joined.foreach(marked(side)(_) = ())
      deleted.foreach(removed(side)(_) = ())
    }
  }

  private def takeOut(id: Long, of: mutable.LongMap[Unit]): Boolean =
    of.nonEmpty && of.remove(id).nonEmpty

  /** The ids of live rows of earlier versions that were joined since. */
  private[segment] def markedIds(side: Side): Array[Long] =
    marked(side).keysIterator.filterNot(removed(side).contains).toArray

  /** The ids of rows of earlier versions that were removed since. */
  private[segment] def removedIds(side: Side): Array[Long] = removed(side).keysIterator.toArray
}

object History {

  /**
   * Merges several consecutive versions into one.
   *
   * @param whole whether they are all versions, so that the result needs none before it
   * @param versions passes each version to its argument, the newest first
   */
  def merge(
      out: DataOutputStream,
      whole: Boolean = true
  )(versions: (PackedInput => Unit) => Unit): Unit = {
    val history = new History
    // the head is that of the newest version
    lazy val writer = new ChangeWriter(out, history.head)
    versions(history.add(_)(row => writer.row(row)))
    if (whole) writer.end() else writer.end(history.markedIds, history.removedIds)
  }

  /**
   * Writes rows as a version that needs none before it. It numbers the rows.
   *
   * @param count how many rows there are
   * @param watermarks for each side and by limit, those of the last eviction
   * @param rows passes each row to its argument
   */
  def write(out: DataOutputStream, count: Long, watermarks: Side => Array[Long])(
      rows: (ChangeRow => Unit) => Unit
  ): Unit = {
    val writer = new ChangeWriter(out, ChangeHead(count, watermarks))
    var id = 0L
    rows { row =>
      row.id = id
      id += 1
      writer.row(row)
    }
    if (id != count) throw new IllegalStateException(s"there are $id rows instead of $count")
    writer.end()
  }
}
