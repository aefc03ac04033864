package io.streamjoin.join.eventtime

import scala.collection.mutable

import io.streamjoin.bounds.{RowBounds, RowTimes, Saturated}
import io.streamjoin.model.{BySide, Routing, Side}
import io.streamjoin.state.JoinState

/**
 * Why rows find no partner: whether the other input has rows of their keys, and by how little the times
 * of these miss the bounds.
 *
 * It is looked into while nothing has been joined, and of the first rows of each input only: a join
 * that joins pays nothing, one that does not a bounded price for each task.
 */
private[eventtime] final class Misses[R](
    rows: JoinRows[R],
    boundsOf: Side => RowBounds,
    columns: Int,
    state: JoinState[R],
    counters: JoinCounters
) {
  import Misses._

  /** The time of a row of each key that has come in this task, also of those that were not kept. */
  private val arrived = BySide.of(_ => mutable.LongMap.empty[Long])
  private val looked = new Array[Int](2)
  private val times = new RowTimes(columns)

  /** A row has come that found no partner in `[from, to]` of the other input. */
  def missed(side: Side, key: Long, time: Long, from: Long, to: Long): Unit =
    if (counters.joinedRows == 0) {
      val seen = arrived(side)
      if (seen.size < Limit) seen.update(key, time)
      if (looked(slot(side)) < Limit) {
        looked(slot(side)) += 1
        look(side, key, from, to)
      }
    }

  private def look(side: Side, key: Long, from: Long, to: Long): Unit = {
    val partner = arrived(side.other).get(key)
    partner.foreach(note(side, _, from, to))
    val held = state.probe(side.other, key, Long.MinValue, Long.MaxValue)
    var left = PartnersLimit
    while (left > 0 && held.hasNext) {
      left -= 1
      rows.readTimes(side.other, held.next().row, times)
      note(side, boundsOf(side.other).probeTime(times), from, to)
    }
    held.close()
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

  private def slot(side: Side): Int = if (side == Side.Left) 0 else 1
}

private[eventtime] object Misses {

  /** Rows of each input that are looked into in one task. */
  val Limit: Int = 256

  /** Rows of one key that are compared with one row. */
  val PartnersLimit: Int = 64

  /** Where there is no equality no key can be missed, and where guests are another partition looks. */
  def isWorthwhile(key: Long): Boolean = key != Routing.NoKey && key != Routing.GuestKey
}
