package io.streamjoin.state

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
