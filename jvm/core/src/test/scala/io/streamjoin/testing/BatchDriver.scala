package io.streamjoin.testing

import java.io._

import scala.collection.mutable

import io.streamjoin.bounds.RowTimes
import io.streamjoin.join.Counters
import io.streamjoin.join.eventtime.{EarliestTimes, EventTimeJoin, JoinStats}
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.state.segment.history.{History, PackedInput}
import io.streamjoin.state.segment.pages.{MemoryPool, Spilling}
import io.streamjoin.watermark.WatermarkPlan
import io.streamjoin.state.segment.SegmentJoinState

/**
 * Runs a join batch by batch. The watermarks of the previous batch decide which rows are late. Rows
 * of the second side are buffered only if they survive the watermarks of the batch's end. Each
 * batch commits a version of the state.
 *
 * @param memory memory limit of the state in bytes, applied by [[shrink]]
 * @param searchedFrom the least number of rows of a segment that is searched on disk
 */
final class BatchDriver(
    join: TestJoin,
    joinType: JoinType,
    span: Long = 8,
    memory: Long = Long.MaxValue,
    searchedFrom: Int = Spilling.SearchedFrom
) {

  private val codecs = Side.both.map(_ -> new TestRowCodec).toMap
  private val versions = mutable.ArrayBuffer.empty[Array[Byte]]
  private var state = empty()
  var counters = new Counters
  private var operator = start(state)

  private def empty() =
    new SegmentJoinState[TestRow](
      join.bounds.limiting(_).length,
      _ => span,
      codecs,
      Spilling(new MemoryPool, memory, LocalFiles.create, searchedFrom = searchedFrom),
      watched = side =>
        new EarliestTimes(join.bounds, side).watched((row: TestRow, times: RowTimes) =>
          join.rows.readTimes(side, row, times)
        )
    )

  private def start(state: SegmentJoinState[TestRow]) = new EventTimeJoin[TestRow, Emitted](
    joinType,
    join.bounds,
    join.rows,
    join.output,
    state,
    JoinStats(counters)
  )

  /** @param watermarks the watermarks received by the end of the batch, by column */
  def batch(first: Side, rows: Seq[TestRow], watermarks: Array[Long]): Seq[Emitted] = {
    val emitted = process(first, rows, watermarks)
    state.number()
    versions += bytes(state.writeChange)
    state.seal()
    emitted
  }

  /** Runs a batch that processes `rows` and then fails. */
  def failedBatch(first: Side, rows: Seq[TestRow], watermarks: Array[Long]): Unit = {
    val (received, counted) = (operator.received, counters)
    counters = new Counters
    operator = start(state)
    operator.restore(received)
    process(first, rows, watermarks)
    state.rollback()
    counters = counted
    operator = start(state)
    operator.restore(received)
  }

  /** Restores the state from the written versions. */
  def restart(): Unit = {
    val received = operator.received
    state.close()
    state = empty()
    if (versions.nonEmpty) state.restore(newestFirst(versions, _))
    operator = start(state)
    operator.restore(received)
  }

  /** Merges the consecutive written versions `from` until `until`. */
  def merge(from: Int, until: Int): Unit = {
    val some = versions.slice(from, until)
    if (some.nonEmpty) {
      val merged = bytes(History.merge(_, whole = from == 0)(newestFirst(some, _)))
      versions.patchInPlace(from, Seq(merged), some.length)
    }
  }

  /** The limits of the buffered rows, for the earliest future output time. */
  def buffered: WatermarkPlan.Buffered = WatermarkPlan.Buffered(
    operator.earliestBuffered.toIndexedSeq,
    operator.earliestUnmatched(_ => true).toIndexedSeq,
    joinType.preserved
  )

  /** The number of written versions, counted after merges. */
  def written: Int = versions.length

  /** Spills rows until the state is within its memory limit. */
  def shrink(): Unit = state.shrink()

  /** Bytes on the disk. */
  def spilled: Long = state.spilled

  def close(): Unit = state.close()

  def buffer(side: Side): Seq[TestRow] = rows(side).map(_._1)

  /** The buffered rows, and whether each has been joined. */
  def rows(side: Side): Seq[(TestRow, Boolean)] = {
    val rows = mutable.ArrayBuffer.empty[(TestRow, Boolean)]
    state.foreach(side)(b => rows += b.row -> b.matched)
    rows.toSeq
  }

  private def process(first: Side, rows: Seq[TestRow], watermarks: Array[Long]): Seq[Emitted] = {
    val (one, two) = rows.partition(_.side == first)
    one.flatMap(row => operator.process(row.side, row).toList) ++
      two.flatMap(row => operator.process(row.side, row, keepFor = watermarks).toList) ++
      operator.advance(watermarks).toList
  }

  private def bytes(write: DataOutputStream => Unit): Array[Byte] = {
    val buffer = new ByteArrayOutputStream
    val out = new DataOutputStream(buffer)
    write(out)
    out.flush()
    buffer.toByteArray
  }

  private def newestFirst(
      some: collection.Seq[Array[Byte]],
      read: PackedInput => Unit
  ): Unit =
    some.reverseIterator.foreach(v => read(new PackedInput(new ByteArrayInputStream(v))))
}
