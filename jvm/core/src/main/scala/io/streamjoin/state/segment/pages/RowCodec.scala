package io.streamjoin.state.segment.pages

/**
 * Rows as bytes.
 *
 * @tparam R a row
 */
trait RowCodec[R] {

  /** How many bytes the row takes; a multiple of 8. */
  def size(row: R): Int

  def write(row: R, into: Array[Byte], at: Int): Unit

  /** The row at this place. It may be one object that is reused for each row. */
  def read(from: Array[Byte], at: Int, size: Int): R
}
