package io.streamjoin.join.eventtime

import scala.collection.mutable

import io.streamjoin.bounds.{RowBounds, RowTimes, Saturated}
import io.streamjoin.join.Count.{Joined, KeyMet, LookedInto}
import io.streamjoin.join.Counters
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.Routing
import io.streamjoin.state.JoinState

/**
 * Near-miss statistics: why rows find no partner. They show whether the other input has rows of
 * their keys, and by how little the times of these rows miss the bounds.
 *
 * The first rows of each input without a partner are recorded. They are analyzed at the end of
 * the batch, if nothing was joined by then. So a join with results pays only for the records. A
 * join without results pays a limited cost in each task.
 */
private[eventtime] final class NearMissStats[R](
    rows: JoinRows[R],
    boundsOf: Side => RowBounds,
    columns: Int,
    state: JoinState[R],
    counters: Counters
) {
  import NearMissStats._

  /** The time of a row of each key that has arrived in this task, buffered or not. */
  private val arrived = BySide.of(_ => mutable.LongMap.empty[Long])
  private val noted = BySide.of(_ => mutable.ArrayBuffer.empty[Miss])
  private val times = new RowTimes(columns)

  /** A row has found no partner in `[from, to]` of the other input. */
  def missed(side: Side, key: Long, time: Long, from: Long, to: Long): Unit =
    if (counters.rows(Joined) == 0 && noted(side).length < Limit) {
      noted(side) += Miss(key, from, to)
      arrived(side).update(key, time)
    }

  /** Analyzes the recorded rows at the end of the batch. */
  def lookInto(): Unit = {
    for (side <- Side.both) {
      if (counters.rows(Joined) == 0) noted(side).foreach(m => look(side, m.key, m.from, m.to))
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
    counters.count(LookedInto, 1L)
    if (partner.nonEmpty || left < PartnersLimit) counters.count(KeyMet, 1L)
  }

  /** A distance is that of the time of the right input, positive if it is too late. */
  private def note(side: Side, time: Long, from: Long, to: Long): Unit = {
    val above =
      if (time > to) Saturated.subtract(time, to)
      else if (time < from) Saturated.subtract(time, from)
      else 0L
    counters.countMiss(if (side == Side.Left) above else Saturated.subtract(0L, above))
  }
}

private[eventtime] object NearMissStats {

  /** A row without a partner, and the range that it probed. */
  private final case class Miss(key: Long, from: Long, to: Long)

  /** Rows of each input that are analyzed in one task. */
  val Limit: Int = 256

  /** Rows of one key that are compared with one row. */
  val PartnersLimit: Int = 64

  /** Without an equality no key can be missed. Replicas are analyzed by their owner. */
  def isWorthwhile(key: Long): Boolean = key != Routing.NoKey && key != Routing.ReplicaKey
}
