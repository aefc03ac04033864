package io.streamjoin.state.segment.index

import java.util.function.IntConsumer

import io.streamjoin.state.segment.pages.{ChainKind, RowPages}

/**
 * Index of the rows of one segment by key, in one of three states.
 *
 * {{{
 *   NoIndex      none; the next probe builds one
 *   ChainIndex   in memory: slot of a key -> newest row -> older row -> ...
 *   SearchIndex  on the disk: entries in the order of hash and time
 * }}}
 */
private[segment] sealed trait SegmentIndex {

  /** Whether more rows than these need a larger index. */
  def isFull(count: Int): Boolean = false

  /** Takes in a row in memory. */
  def add(i: Int): Unit = ()

  /** Removes the row that was added last. */
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
 * The index is the chains by key itself, rather than having them: a probe reads one object less in
 * each segment.
 *
 * @param capacity for how many rows the index has slots
 */
private[segment] final class ChainIndex(segment: RowPages, capacity: Int, timeIndex: Boolean)
    extends Chains(segment, ChainKind.OfKey, capacity)
    with SegmentIndex {
  import ChainIndex._

  /** Null without `timeIndex`: a segment has a chain less to write for each row. */
  private val byTime = if (timeIndex) new Chains(segment, ChainKind.OfTime, capacity) else null

  override def isFull(count: Int): Boolean = count == rows

  /** The newest row of the chain of a key and a time, see [[ChainIndex.keyAndTime]]. */
  def ofTime(hash: Int): Int = byTime.ofHash(hash)

  override def add(i: Int): Unit = {
    add(i, segment.key(i))
    if (timeIndex) byTime.add(i, keyAndTimeOf(i))
  }

  /** Adds a row to the chains that it has not left. */
  def addAgain(i: Int): Unit = {
    if (!segment.isOff(i, ChainKind.OfKey)) add(i, segment.key(i))
    if (!segment.isOff(i, ChainKind.OfTime)) byTime.add(i, keyAndTimeOf(i))
  }

  override def undo(i: Int): Unit = {
    undo(i, segment.key(i))
    if (timeIndex) byTime.undo(i, keyAndTimeOf(i))
  }

  /** Removes a row that no version needs from its chains, now or later. */
  def forget(i: Int): Unit = {
    forget(i, segment.key(i))
    if (timeIndex) byTime.forget(i, keyAndTimeOf(i))
  }

  private def keyAndTimeOf(i: Int): Long = keyAndTime(segment.key(i), segment.time(i))

  override def allocated: Long =
    super.allocated + (if (timeIndex) byTime.allocated else 0L)
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

  /** Starts to count anew if the searches have read more than all rows twice; whether they have. */
  def restartIfReadTwice(rowCount: Int): Boolean = {
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
