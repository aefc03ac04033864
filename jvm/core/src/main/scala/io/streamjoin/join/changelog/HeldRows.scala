package io.streamjoin.join.changelog

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.JoinState

/** The rows of a state, as they are found by their identity. */
private[changelog] final class HeldRows[R](rows: ChangelogRows[R], state: JoinState[R]) {

  private val limitsOf = BySide.of(side => new Array[Long](rows.limitCount(side)))

  /** The row that [[takeOf]] has taken, and whether a partner of it has expired. */
  var taken: R = _
  var takenMatched: Boolean = false

  /** Takes the row out that has the unique key of this one, and tells whether there was one. */
  def takeOf(side: Side, key: Long, like: R): Boolean = {
    val id = rows.identity(side, like)
    val held = state.probe(side, key, id, id)
    var found = false
    while (!found && held.hasNext) {
      val one = held.next()
      val row = one.row
      if (rows.sameUniqueKey(side, row, like)) {
        taken = rows.copy(side, row)
        takenMatched = one.matched
        held.remove()
        found = true
      }
    }
    held.close()
    found
  }

  /**
   * Takes as many rows out, at most.
   *
   * @param goes whether it is such a row, given whether a partner of it has expired
   */
  def take(side: Side, key: Long, like: R, atMost: Int, into: MarkedRows[R])(
      goes: (R, Boolean) => Boolean
  ): Unit = {
    val id = rows.identity(side, like)
    val held = state.probe(side, key, id, id)
    val most = into.length + atMost
    while (into.length < most && held.hasNext) {
      val one = held.next()
      val row = one.row
      if (goes(row, one.matched)) {
        into.add(rows.copy(side, row), one.matched)
        held.remove()
      }
    }
    held.close()
  }

  def append(side: Side, key: Long, row: R, matched: Boolean): Unit = {
    val limits = limitsOf(side)
    rows.limits(side, row, limits)
    state.append(side, key, rows.identity(side, row), limits, row, matched)
  }

  /**
   * Takes those out of which a limit is below its clock.
   *
   * @return how many there were
   */
  def discard(side: Side, before: Array[Long], now: Array[Long]): Long = {
    val size = state.size(side)
    state.discard(side, before, now)
    size - state.size(side)
  }
}
