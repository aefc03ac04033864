package io.streamjoin.state.segment

import java.util.function.IntConsumer

/**
 * Index of the rows of one segment by key, in one of three states.
 *
 * {{{
 *   NoIndex      none; the next probe builds one
 *   ChainIndex   in memory: slot of a key -> newest row -> older row -> ...
 *   SearchIndex  on the disk: entries in the order of hash and time
 * }}}
 */
private[segment] sealed abstract class SegmentIndex {

  /** Whether more rows than these need a larger index. */
  def isFull(count: Int): Boolean = false

  /** Takes in a row in memory. */
  def add(i: Int): Unit = ()

  /** Takes out the row that was added last. */
  def undo(i: Int): Unit = ()

  /** A version ends. */
  def seal(): Unit = ()

  /** Bytes in memory. */
  def allocated: Long

  /** Frees its extents of the disk. */
  def release(): Unit = ()
}

private[segment] case object NoIndex extends SegmentIndex {
  override def allocated: Long = 0L
}

/**
 * Index of rows in memory: a chain for each key and, with `timeIndex`, one for each key and time.
 *
 * @param capacity for how many rows the index has slots
 */
private[segment] final class ChainIndex(rows: RowPages, capacity: Int, timeIndex: Boolean)
    extends SegmentIndex {
  import ChainIndex._

  private val byKey = new Chains(rows, ChainKind.OfKey, capacity)

  /** Null without `timeIndex`: a segment has a chain less to write for each row. */
  private val byTime = if (timeIndex) new Chains(rows, ChainKind.OfTime, capacity) else null

  override def isFull(count: Int): Boolean = count == byKey.rows

  /** The newest row of the chain of a key with this hash, as its number plus one; 0 if there is none. */
  def ofKey(hash: Int): Int = byKey.ofHash(hash)

  /** The newest row of the chain of a key and a time, see [[ChainIndex.keyAndTime]]. */
  def ofTime(hash: Int): Int = byTime.ofHash(hash)

  override def add(i: Int): Unit = {
    byKey.add(i, rows.key(i))
    if (timeIndex) byTime.add(i, keyAndTime(rows.key(i), rows.time(i)))
  }

  /** Adds a row to the chains that it has not left. */
  def addAgain(i: Int): Unit = {
    if (!rows.isOff(i, ChainKind.OfKey)) byKey.add(i, rows.key(i))
    if (!rows.isOff(i, ChainKind.OfTime)) byTime.add(i, keyAndTime(rows.key(i), rows.time(i)))
  }

  override def undo(i: Int): Unit = {
    byKey.undo(i, rows.key(i))
    if (timeIndex) byTime.undo(i, keyAndTime(rows.key(i), rows.time(i)))
  }

  /** Takes a row that no version needs out of its chains, now or later. */
  def forget(i: Int): Unit = {
    byKey.forget(i, rows.key(i))
    if (timeIndex) byTime.forget(i, keyAndTime(rows.key(i), rows.time(i)))
  }

  override def allocated: Long =
    byKey.allocated + (if (timeIndex) byTime.allocated else 0L)
}

private[segment] object ChainIndex {

  /** The lookup value of rows of one key and one time. */
  def keyAndTime(key: Long, time: Long): Long = key + time * 0xbf58476d1ce4e5b9L
}

/** Index of rows on the disk, with the cost of the searches of one version. */
private[segment] final class SearchIndex(entries: DiskIndex) extends SegmentIndex {
  import SearchIndex._

  /** Pieces of the index read since the last version was sealed. */
  private var reads = 0

  /** Shows the numbers of the live rows of a key and a range of times. */
  def search(
      rows: RowPages,
      key: Long,
      hash: Int,
      from: Long,
      to: Long,
      found: IntConsumer
  ): Unit =
    if (entries.mayContain(hash)) {
      reads += entries.find(hash, from, to) { i =>
        if (!rows.isDeleted(i)) {
          rows.show(i)
          if (rows.key(i) == key) found.accept(i)
        }
      }
    }

  override def seal(): Unit = reads = 0

  /** Whether the searches have read more than twice what all rows are; asked again, it counts anew. */
  def hasReadTwice(rowCount: Int): Boolean = {
    val isTwice = reads > rowCount / RowsOfRead * 2
    if (isTwice) reads = 0
    isTwice
  }

  override def allocated: Long = entries.allocated

  override def release(): Unit = entries.release()
}

private object SearchIndex {

  /** Rows that a search reads at a time. */
  private val RowsOfRead = 64
}
