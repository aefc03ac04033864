package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Rows as bytes, one behind the other, at multiples of a word.
 *
 * {{{
 *   size  row  size  row ...
 * }}}
 */
private[physical] object SizedRows {
  private val Word = 8

  /** How many bytes a row takes. */
  def needed(row: UnsafeRow): Int = Word + row.getSizeInBytes

  /**
   * Copies a row.
   *
   * @return where the next one goes
   */
  def write(row: UnsafeRow, bytes: Array[Byte], at: Int): Int = {
    val size = row.getSizeInBytes
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + at, size.toLong)
    row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + at + Word)
    at + Word + size
  }

  /**
   * Shows what lies there.
   *
   * @param offset from `base`, as [[Platform]] counts
   * @return the offset of the next one
   */
  def show(base: AnyRef, offset: Long, row: UnsafeRow): Long = {
    val size = Platform.getLong(base, offset).toInt
    row.pointTo(base, offset + Word, size)
    offset + Word + size
  }

  /**
   * All between two offsets; each overwrites the one before.
   *
   * @param fields how many columns a row has
   */
  def read(base: AnyRef, from: Long, until: Long, fields: Int): Iterator[UnsafeRow] =
    new Iterator[UnsafeRow] {
      private val row = new UnsafeRow(fields)
      private var at = from

      override def hasNext: Boolean = at < until

      override def next(): UnsafeRow = {
        at = show(base, at, row)
        row
      }
    }
}
