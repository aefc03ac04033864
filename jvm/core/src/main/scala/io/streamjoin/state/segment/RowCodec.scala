package io.streamjoin.state.segment

/**
 * Rows as bytes.
 *
 * @tparam R a row
 */
trait RowCodec[R] {

  /** How many bytes the row takes; a multiple of 8. */
  def size(row: R): Int

  def write(row: R, into: Array[Byte], at: Int): Unit

  /** The row that lies there. It may be one object that shows one row after another. */
  def read(from: Array[Byte], at: Int, size: Int): R
}
