package io.streamjoin.join.eventtime

import io.streamjoin.bounds.{JoinBounds, RowTimes, Saturated}
import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.state.{JoinState, Watched}

/**
 * Earliest times of the buffered rows of one side: the join emits no buffered row with an
 * earlier time.
 *
 * The least limit mostly gives the least time, for a limit is a time plus a distance. If a
 * limit is the least of several such sums, the state watches the time itself.
 */
final class EarliestTimes(bounds: JoinBounds, side: Side) {
  import JoinBounds.Unbounded

  private val own = bounds.indices(side)
  private val limiting = bounds.limiting(side)

  /** The limit that is this time plus a distance, in all rows. */
  private def limitOf(column: Int): Int =
    limiting.indexWhere(b => own.filter(bounds.slack(_, b) != Unbounded) == Seq(column))

  /** The columns that follow from no limit. */
  private val apart: IndexedSeq[Int] =
    own.filter(c => bounds.columns(c).watermarked && limitOf(c) < 0)

  /** Whether the state has to watch the column. */
  def isWatched(column: Int): Boolean = apart.contains(column)

  /**
   * The numbers that a state has to watch.
   *
   * @param timesOf reads the times of a row
   */
  def watched[R](timesOf: (R, RowTimes) => Unit): Watched[R] = new Watched[R] {
    private val times = new RowTimes(bounds.columns.length)

    override def count: Int = apart.length

    override def read(row: R, into: Array[Long], at: Int): Unit = {
      timesOf(row, times)
      for (i <- apart.indices)
        into(at + i) = if (times.isNull(apart(i))) Long.MaxValue else times(apart(i))
    }
  }

  /**
   * A lower bound of a time of the buffered rows; `Long.MaxValue` if there are none. It is the
   * least of these times, unless the state does not know [[watched]] numbers.
   */
  def earliest(column: Int, state: JoinState[_]): Long =
    earliest(column, state, state.least(side, _))

  /** The same for the rows that have not been joined; past all times if there are none. */
  def earliestUnmatched(column: Int, state: JoinState[_]): Long =
    earliest(column, state, state.leastUnmatched(side, _))

  private def earliest(column: Int, state: JoinState[_], least: Int => Long): Long =
    if (state.size(side) == 0) Long.MaxValue
    else {
      val k = limitOf(column)
      val watched = if (k >= 0) Watermarks.Unknown else least(place(column))
      if (watched != Watermarks.Unknown) watched
      else
        limiting.indices.iterator
          .filter(bound => bounds.slack(column, limiting(bound)) != Unbounded)
          .map(bound => before(least(bound), bounds.slack(column, limiting(bound))))
          .maxOption
          .getOrElse(Watermarks.Unknown)
    }

  private def place(column: Int): Int = limiting.length + apart.indexOf(column)

  private def before(limit: Long, slack: Long): Long =
    if (limit == Watermarks.Unknown) limit else Saturated.subtract(limit, slack)
}
