package io.streamjoin.state.segment

import java.io.DataOutputStream

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.{BufferedRow, JoinState, Probed, Watched}

/**
 * Buffered rows in memory, in segments by expiry, with a file on the local disk for what memory is too
 * short for.
 *
 * Appending is appending to arrays, a probe follows one chain in each segment that its range of times
 * touches, and what a watermark frees is mostly whole segments. What has happened since the last
 * version was sealed can be written, for a checkpoint, or undone.
 *
 * @param limitCount how many limits a row of each side has
 * @param span how far apart the first limits of rows that lie together may be
 * @param codec rows as bytes; one for each side, since each may show one row after another
 * @param spilling when rows go to the disk, and where
 * @param timeIndex whether rows of a side and a key are found by one time without a walk over the
 *   others of the key, for 8 to 16 bytes more a row
 * @param watched of what else than limits the least is asked for, for 8 bytes more a row and number
 */
final class SegmentJoinState[R](
    limitCount: Side => Int,
    span: Side => Long,
    codec: Side => RowCodec[R],
    spilling: Spilling = Spilling.Never,
    timeIndex: Side => Boolean = _ => false,
    watched: Side => Watched[R] = (_: Side) => Watched.nothing[R]
) extends JoinState[R] {
  import SegmentJoinState._

  private val file = new SpillFile(spilling.newFile)
  private val share = spilling.pool.share()
  private val sides = BySide.of { side =>
    new SegmentSide[R](
      limitCount(side),
      span(side),
      codec(side),
      new SpilledBytes(file, () => check(), mayRecall, spilling.searchedFrom),
      timeIndex(side),
      watched(side)
    )
  }
  private val policy = new SpillPolicy(Side.both.map(sides(_).segments))
  private var nextId = 0L
  private var sealedNextId = 0L
  private var appended = 0L

  /** How many bytes may still come back in this version that could be left on the disk. */
  private var room = 0L

  override def probe(side: Side, key: Long, from: Long, to: Long): Probed[R] =
    sides(side).probe(key, from, to)

  override def append(
      side: Side,
      key: Long,
      time: Long,
      limits: Array[Long],
      row: R,
      matched: Boolean
  ): Unit = {
    sides(side).append(key, time, limits, row, matched)
    appended += 1
    if (appended % CheckedEvery == 0) check()
  }

  override def evict(
      side: Side,
      before: Array[Long],
      now: Array[Long]
  ): Iterator[BufferedRow[R]] = sides(side).evict(now)

  override def discard(side: Side, before: Array[Long], now: Array[Long]): Unit =
    sides(side).discard(now)

  override def least(side: Side, k: Int): Long = sides(side).least(k)

  override def leastUnmatched(side: Side, k: Int): Long = sides(side).leastUnmatched(k)

  override def size(side: Side): Long = sides(side).size

  /** How many rows of both sides are buffered. */
  def rowCount: Long = sides.left.size + sides.right.size

  /** All rows of a side, in no order; shown like those of a probe. */
  def foreach(side: Side)(visit: StateRow[R] => Unit): Unit = sides(side).foreach(visit)

  /** Bytes held in memory. */
  def allocated: Long = sides.left.allocated + sides.right.allocated

  // ---- memory and disk ----

  /** Bytes on the local disk. */
  def spilled: Long = file.size

  /** Whether the local disk has failed: then the rows are of no more use. */
  def broken: Boolean = file.failed

  /** Tells the pool what is held now. */
  def report(): Unit = {
    val all = allocated
    share.report(all, all - rowBytes)
  }

  private def rowBytes: Long = sides.left.segments.rowBytes + sides.right.segments.rowBytes

  /**
   * Refuses to go on where all states together hold more than may be held that cannot go to the disk.
   *
   * @throws java.lang.RuntimeException that of [[Spilling.exceeded]]
   */
  def check(): Unit = {
    report()
    val fixed = spilling.pool.fixed
    if (fixed > spilling.most) throw spilling.exceeded(fixed)
  }

  /**
   * Moves rows to the local disk until no more is held than this state's part of the limit. To be
   * called while nothing can be undone.
   *
   * @throws java.io.UncheckedIOException if they cannot be written
   * @throws java.lang.RuntimeException as [[check]] does
   */
  def shrink(): Unit = {
    report()
    val excess = share.excess(spilling.limit)
    if (excess > 0) {
      policy.spillRows(excess)
      report()
      policy.spillNumbers(share.excess(spilling.limit))
    }
    check()
    room = share.part(spilling.limit) / RoomOfLimit
  }

  /** What comes back counts as what the batch brings. */
  private def mayRecall(bytes: Long): Boolean = {
    val may = bytes <= room
    if (may) room -= bytes
    may
  }

  /** Gives memory and disk back; the state is used no more. */
  def close(): Unit = {
    share.report(0L, 0L)
    file.close()
  }

  // ---- versions ----

  /** Ends a version: nothing that was done until now can be undone any more. */
  def seal(): Unit = {
    sealedNextId = nextId
    Side.both.foreach(sides(_).seal())
  }

  /** Undoes what was done since the last version was sealed. */
  def rollback(): Unit = {
    nextId = sealedNextId
    Side.both.foreach(sides(_).rollback())
  }

  /** Numbers the rows that came since the last version and are still there, and tells how many. */
  def number(): Long = {
    val before = nextId
    for (side <- Side.both) nextId += sides(side).number(nextId)
    nextId - before
  }

  /** Writes what has changed since the last version was sealed; rows must have been numbered. */
  def writeChange(out: DataOutputStream): Unit = {
    val writer = new ChangeWriter(out)
    writer.begin(ChangeHead(nextId, side => sides(side).watermarks))
    val row = new ChangeRow
    for (side <- Side.both) {
      row.side = side
      row.limits = new Array[Long](sides(side).watermarks.length)
      sides(side).foreachFresh { (segment, i) =>
        read(segment, i, row)
        writer.row(row)
      }
    }
    writer.end(side => sides(side).markedIds, side => sides(side).removedIds)
  }

  /**
   * Takes in what was written of it, within the limit of memory. The state must be empty.
   *
   * @param versions calls what it is given for each version, the newest first
   */
  def restore(versions: (PackedInput => Unit) => Unit): Unit = {
    val history = new History
    val step = math.max(RowBytes.FirstChunk, spilling.limit / RestoreSteps)
    var taken = 0L
    versions(history.add(_) { row =>
      sides(row.side).append(
        row.key,
        row.time,
        row.limits,
        codec(row.side).read(row.bytes, row.offset, row.size),
        row.matched,
        row.id
      )
      taken += row.size
      if (taken >= step) {
        taken = 0L
        seal()
        shrink()
      }
    })
    nextId = history.head.nextId
    for (side <- Side.both) sides(side).restore(history.head.watermarks(side))
    seal()
    shrink()
  }
}

private object SegmentJoinState {

  /** Reads a row that is in memory; which side it is of, and room for its limits, is there. */
  private def read(segment: Segment, i: Int, into: ChangeRow): Unit = {
    into.matched = segment.isMatched(i)
    into.id = segment.id(i)
    into.key = segment.key(i)
    into.time = segment.time(i)
    var k = 0
    while (k < into.limits.length) {
      into.limits(k) = segment.limit(i, k)
      k += 1
    }
    val place = segment.place(i)
    into.bytes = segment.bytes.chunk(place)
    into.offset = RowBytes.offset(place)
    into.size = RowBytes.size(place)
  }

  /** After how many rows that a batch brings the memory is looked at. */
  private val CheckedEvery = 1L << 16

  /** A fourth of it may come back in a version: what is there already is of use, too. */
  private val RoomOfLimit = 4

  /** In how many steps the memory is filled: other tasks fill it at the same time. */
  private val RestoreSteps = 64
}
