package io.streamjoin.state

import io.streamjoin.model.Side

/**
 * The buffered rows of one partition of a join. The operator decides which rows are late, match
 * and are emitted.
 *
 * A row is found by its key and a time. In a join without times this is a number that
 * distinguishes rows of a key. A row is evicted when some limit of it is below a watermark, or
 * it is removed. A row without limits, or with limits of `Long.MaxValue`, stays until it is
 * removed.
 *
 * A probe costs as much as the rows in its range, an eviction as much as the evicted rows. What
 * an iterator has returned is valid until the next call on it.
 */
trait JoinState[R] {

  /** Rows of `side` with this key and `from <= time <= to`, in no order; one probe of a side at a time. */
  def probe(side: Side, key: Long, from: Long, to: Long): Probed[R]

  /** Buffers a row. The caller may change `row` and `limits` afterwards. */
  def append(
      side: Side,
      key: Long,
      time: Long,
      limits: Array[Long],
      row: R,
      matched: Boolean
  ): Unit

  /**
   * Evicts, and returns in no order, each row of `side` of which some limit is below its
   * watermark. The iterator must be read to its end.
   *
   * @param before the watermarks, by limit, of the last eviction
   * @param now the watermarks, by limit
   */
  def evict(side: Side, before: Array[Long], now: Array[Long]): Iterator[BufferedRow[R]]

  /** The same, but returns only the number of the rows. */
  def discard(side: Side, before: Array[Long], now: Array[Long]): Long

  /**
   * The least of a number of the rows of `side`: of limit `k`, or, from the number of limits
   * on, of a [[Watched]] number. `Long.MaxValue` if there are no rows, `Watermarks.Unknown` if
   * it is not known.
   */
  def least(side: Side, k: Int): Long

  /**
   * A lower bound of a number of the rows of `side` that have not been joined. It is the least
   * of theirs, or of all rows if they are on the disk.
   */
  def leastUnmatched(side: Side, k: Int): Long = least(side, k)

  /** How many rows of `side` are buffered. */
  def size(side: Side): Long
}

/**
 * Cursor over the rows that a probe finds. Calls refer to the row that [[next]] has returned
 * last, as those of `java.util.Iterator` do. A caller that stops before the end closes it. An
 * append to the probed rows ends it, too.
 */
trait Probed[R] extends Iterator[BufferedRow[R]] {

  /** Marks the row as joined. */
  def setMatched(): Unit

  /** Removes the row; a second call has no effect. */
  def remove(): Unit

  /** Frees its resources; may be called twice. */
  def close(): Unit
}

/**
 * A buffered row, as a probe or an eviction returns it. One object may be reused for one row
 * after another: its values are valid until the next row is requested.
 */
trait BufferedRow[R] {

  /** The row itself. */
  def row: R

  /** The hash of its equality key. */
  def key: Long

  /** The time by which a probe finds it. */
  def time: Long

  /** Whether it has been joined. */
  def matched: Boolean
}

/**
 * Numbers of a row, beside its limits, of which a state returns the least: times that do not
 * evict the row. They are not stored, but read from the row.
 *
 * @tparam R a row
 */
trait Watched[R] {

  /** How many numbers a row has. */
  def count: Int

  /** Reads them, from `at` on; `Long.MaxValue` where a row has none. */
  def read(row: R, into: Array[Long], at: Int): Unit
}

object Watched {

  def nothing[R]: Watched[R] = new Watched[R] {
    override def count: Int = 0
    override def read(row: R, into: Array[Long], at: Int): Unit = ()
  }
}
