package io.streamjoin.state.segment

import java.io.DataOutputStream

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.{BufferedRow, JoinState, Probed, Watched}
import io.streamjoin.state.segment.history.{
  ChangeHead,
  ChangeRow,
  ChangeWriter,
  History,
  PackedInput
}
import io.streamjoin.state.segment.pages.{RowBytes, RowCodec, SpillFile, SpilledBytes, Spilling}

/**
 * Join state in memory: buffered rows in segments by expiry, with a spill file on the local
 * disk.
 *
 * An append writes to arrays. A probe follows one chain in each segment that its range of times
 * overlaps. An eviction mostly drops whole segments. The changes since the last version was
 * sealed can be written, for a checkpoint, or undone.
 *
 * @param limitCount how many limits a row of each side has
 * @param span how far apart the first limits of the rows of a segment may be
 * @param codec rows as bytes; one for each side, since each may reuse one object for all rows
 * @param spilling when rows are spilled, and where
 * @param timeIndex whether a probe of a side finds rows by key and one time without a walk over
 *   the key, for 8 to 16 bytes more a row
 * @param watched further numbers of which the least is required, for 8 bytes more a row and
 *   number
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

  /** How many bytes may still be recalled in this version that could stay on the disk. */
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

  override def discard(side: Side, before: Array[Long], now: Array[Long]): Long =
    sides(side).discard(now)

  override def least(side: Side, k: Int): Long = sides(side).least(k)

  override def leastUnmatched(side: Side, k: Int): Long = sides(side).leastUnmatched(k)

  override def size(side: Side): Long = sides(side).size

  /** How many rows of both sides are buffered. */
  def rowCount: Long = sides.left.size + sides.right.size

  /** Visits all rows of a side, in no order, with one object as a probe does. */
  def foreach(side: Side)(visit: StateRow[R] => Unit): Unit = sides(side).foreach(visit)

  /** Bytes in memory. */
  def allocated: Long = sides.left.allocated + sides.right.allocated

  // ---- memory and disk ----

  /** Bytes on the local disk. */
  def spilled: Long = file.size

  /** Whether the local disk has failed; the rows are lost then. */
  def broken: Boolean = file.failed

  /** Reports its use of memory to the pool. */
  def report(): Unit = {
    val all = allocated
    share.report(all, all - rowBytes)
  }

  private def rowBytes: Long = sides.left.segments.rowBytes + sides.right.segments.rowBytes

  /**
   * Fails if all states together exceed the memory for what cannot be spilled.
   *
   * @throws java.lang.RuntimeException that of [[Spilling.exceeded]]
   */
  def check(): Unit = {
    report()
    val fixed = spilling.pool.fixed
    if (fixed > spilling.most) throw spilling.exceeded(fixed)
  }

  /**
   * Spills rows until this state is within its part of the limit. To be called while nothing
   * can be undone.
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

  /** Recalled bytes count as rows that the batch adds. */
  private def mayRecall(bytes: Long): Boolean = {
    val may = bytes <= room
    if (may) room -= bytes
    may
  }

  /** Frees memory and disk; the state is not used afterwards. */
  def close(): Unit = {
    share.report(0L, 0L)
    file.close()
  }

  // ---- versions ----

  /** Ends a version: its changes cannot be undone any more. */
  def seal(): Unit = {
    sealedNextId = nextId
    Side.both.foreach(sides(_).seal())
  }

  /** Undoes the changes since the last version was sealed. */
  def rollback(): Unit = {
    nextId = sealedNextId
    Side.both.foreach(sides(_).rollback())
  }

  /** Numbers the live rows that were appended since the last version, and returns their count. */
  def number(): Long = {
    val before = nextId
    for (side <- Side.both) nextId += sides(side).number(nextId)
    nextId - before
  }

  /** Writes the changes since the last version was sealed; rows must have been numbered. */
  def writeChange(out: DataOutputStream): Unit = {
    val writer = new ChangeWriter(out, ChangeHead(nextId, side => sides(side).watermarks))
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
   * Reads the versions that were written of it, within the limit of memory. The state must be
   * empty.
   *
   * @param versions passes each version to its argument, the newest first
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

  /** Reads a row that is in memory; `into` has its side already, and room for its limits. */
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

  /** Appended rows between two checks of the memory. */
  private val CheckedEvery = 1L << 16

  /** A fourth of it may be recalled in a version: the rows in memory are needed, too. */
  private val RoomOfLimit = 4

  /** The steps in which a restore spills: other tasks use the memory at the same time. */
  private val RestoreSteps = 64
}
