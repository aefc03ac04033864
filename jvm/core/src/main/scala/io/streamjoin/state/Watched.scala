package io.streamjoin.state

/**
 * Numbers of rows of which a state tells the least, beside those of their limits: times by which rows
 * do not go. They are not stored, but read of the rows.
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
