package io.streamjoin.state

import io.streamjoin.model.Side

/**
 * The rows that one partition of a join holds back, and nothing else: what is late, what matches and
 * what is emitted is decided by the operator.
 *
 * A row is found by its key and one more number, its time; of a join without times that is whatever
 * tells rows of a key apart. It goes when some limit of it is below a watermark, or when it is taken
 * away; a row without limits, or with limits of `Long.MaxValue`, stays until then.
 *
 * Costs are those of what is asked for: a probe of the rows in its range, an eviction of the rows
 * that go. Whatever an iterator has returned stays valid until the next call on it.
 */
trait JoinState[R] {

  /** Rows of `side` with this key and `from <= time <= to`, in no order; one probe of a side at a time. */
  def probe(side: Side, key: Long, from: Long, to: Long): Probed[R]

  /** Keeps a row. The caller may change `row` and `limits` afterwards. */
  def append(
      side: Side,
      key: Long,
      time: Long,
      limits: Array[Long],
      row: R,
      matched: Boolean
  ): Unit

  /**
   * Takes away, and returns in no order, each row of `side` of which some limit is below its watermark.
   * The iterator must be read to its end.
   *
   * @param before the watermarks, by limit, of the last eviction
   * @param now the watermarks, by limit
   */
  def evict(side: Side, before: Array[Long], now: Array[Long]): Iterator[BufferedRow[R]]

  /** The same where nobody wants to see the rows. */
  def discard(side: Side, before: Array[Long], now: Array[Long]): Unit

  /**
   * The least of a number of the rows of `side`: of limit `k`, or, from the number of limits on, of what
   * is [[Watched]]. `Long.MaxValue` where there are no rows, `Watermarks.Unknown` where it is not known.
   */
  def least(side: Side, k: Int): Long

  /**
   * A number that no row of `side` that has not been joined is below: the least of theirs, or of all rows where they
   * cannot be told apart without reading them back.
   */
  def leastUnmatched(side: Side, k: Int): Long = least(side, k)

  /** How many rows of `side` are buffered. */
  def size(side: Side): Long
}
