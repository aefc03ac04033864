package io.streamjoin.join.eventtime

import scala.collection.mutable

import io.streamjoin.bounds.{RowBounds, RowTimes, Saturated}
import io.streamjoin.model.{BySide, Routing, Side}
import io.streamjoin.state.JoinState

/**
 * Why rows find no partner: whether the other input has rows of their keys, and by how little the times
 * of these miss the bounds.
 *
 * The first rows of each input that miss are noted, and looked into at the end of the batch, if nothing
 * was joined by then: a join that joins pays for the notes only, one that does not a bounded price for
 * each task.
 */
private[eventtime] final class NearMissStats[R](
    rows: JoinRows[R],
    boundsOf: Side => RowBounds,
    columns: Int,
    state: JoinState[R],
    counters: JoinCounters
) {
  import NearMissStats._

  /** The time of a row of each key that has come in this task, also of those that were not kept. */
  private val arrived = BySide.of(_ => mutable.LongMap.empty[Long])
  private val noted = BySide.of(_ => mutable.ArrayBuffer.empty[Miss])
  private val times = new RowTimes(columns)

  /** A row has come that found no partner in `[from, to]` of the other input. */
  def missed(side: Side, key: Long, time: Long, from: Long, to: Long): Unit =
    if (counters.joinedRows == 0 && noted(side).length < Limit) {
      noted(side) += Miss(key, from, to)
      arrived(side).update(key, time)
    }

  /** No more rows of this batch come. */
  def lookInto(): Unit = {
    for (side <- Side.both) {
      if (counters.joinedRows == 0) noted(side).foreach(m => look(side, m.key, m.from, m.to))
      noted(side).clear()
    }
    Side.both.foreach(arrived(_).clear())
  }

  private def look(side: Side, key: Long, from: Long, to: Long): Unit = {
    val partner = arrived(side.other).get(key)
    partner.foreach(note(side, _, from, to))
    val buffered = state.probe(side.other, key, Long.MinValue, Long.MaxValue)
    var left = PartnersLimit
    while (left > 0 && buffered.hasNext) {
      left -= 1
      rows.readTimes(side.other, buffered.next().row, times)
      note(side, boundsOf(side.other).probeTime(times), from, to)
    }
    buffered.close()
    counters.countLookedInto(metKey = partner.nonEmpty || left < PartnersLimit)
  }

  /** A distance is that of the right input's time, positive where it is too late. */
  private def note(side: Side, time: Long, from: Long, to: Long): Unit = {
    val above =
      if (time > to) Saturated.subtract(time, to)
      else if (time < from) Saturated.subtract(time, from)
      else 0L
    counters.countMiss(if (side == Side.Left) above else Saturated.subtract(0L, above))
  }
}

private[eventtime] object NearMissStats {

  /** A row that found no partner, and what it looked for. */
  private final case class Miss(key: Long, from: Long, to: Long)

  /** Rows of each input that are looked into in one task. */
  val Limit: Int = 256

  /** Rows of one key that are compared with one row. */
  val PartnersLimit: Int = 64

  /** Where there is no equality no key can be missed, and where guests are another partition looks. */
  def isWorthwhile(key: Long): Boolean = key != Routing.NoKey && key != Routing.GuestKey
}
