package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Encoding of rows as bytes with their sizes, aligned to words.
 *
 * {{{
 *   size  row  size  row ...
 * }}}
 */
private[physical] object SizedRows {
  private val Word = 8

  /** The encoded size of a row. */
  def needed(row: UnsafeRow): Int = Word + row.getSizeInBytes

  /**
   * Copies a row.
   *
   * @return the position of the next row
   */
  def write(row: UnsafeRow, bytes: Array[Byte], at: Int): Int = {
    val size = row.getSizeInBytes
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + at, size.toLong)
    row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + at + Word)
    at + Word + size
  }

  /**
   * Points `row` to the encoded row at an offset.
   *
   * @param offset from `base`, as in [[Platform]]
   * @return the offset of the next row
   */
  def show(base: AnyRef, offset: Long, row: UnsafeRow): Long = {
    val size = Platform.getLong(base, offset).toInt
    row.pointTo(base, offset + Word, size)
    offset + Word + size
  }
}
