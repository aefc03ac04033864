package io.streamjoin.join.changelog

import io.streamjoin.model.{BySide, Side}
import io.streamjoin.state.JoinState

/** The stored rows of a state, found by identity. */
private[changelog] final class StoredRows[R](rows: ChangelogRows[R], state: JoinState[R]) {

  private val limitsOf = BySide.of(side => new Array[Long](rows(side).limitCount))

  /**
   * Removes up to this many rows.
   *
   * @param removes whether a row is to be removed, given its mark
   */
  def take(side: Side, key: Long, like: R, atMost: Int, into: ChangeBuffer[R])(
      removes: (R, Boolean) => Boolean
  ): Unit = {
    val id = rows(side).identity(like)
    val stored = state.probe(side, key, id, id)
    val most = into.length + atMost
    while (into.length < most && stored.hasNext) {
      val one = stored.next()
      val row = one.row
      if (removes(row, one.matched)) {
        into.add(rows(side).copy(row), one.matched)
        stored.remove()
      }
    }
    stored.close()
  }

  /** Removes the mark of a row. */
  def unmark(side: Side, key: Long, row: R): Unit = {
    val marked = new ChangeBuffer[R]
    take(side, key, row, atMost = 1, marked)((other, _) => rows(side).compare(other, row) == 0)
    for (i <- 0 until marked.length) append(side, key, marked(i), matched = false)
  }

  def append(side: Side, key: Long, row: R, matched: Boolean): Unit = {
    val limits = limitsOf(side)
    rows(side).limits(row, limits)
    state.append(side, key, rows(side).identity(row), limits, row, matched)
  }
}
