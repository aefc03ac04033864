package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, IntegerType}
import org.apache.spark.unsafe.Platform

/**
 * Rows packed into bytes.
 *
 * {{{
 *   nulls  number  place, size | [[SizedRows]]
 *   a row of two columns, a number and bytes
 * }}}
 *
 * The bytes are those of a row, so whatever moves rows moves a chunk, at the price of one.
 *
 * @param number where it goes
 * @param room how many bytes of rows go into it
 */
private[physical] final class RowChunk(number: Int, room: Int) {
  import RowChunk._

  private val bytes = new Array[Byte](Head + room)
  private var end = Head
  Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + Word, number.toLong)

  /** Copies a row to the end; false where there is no room for it. */
  def add(row: UnsafeRow): Boolean = {
    val fits = end + needed(row) <= bytes.length
    if (fits) end = SizedRows.write(row, bytes, end)
    fits
  }

  def isEmpty: Boolean = end == Head

  /** All of it as one row, which nothing may be added to any more. */
  def toRow: UnsafeRow = {
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + 2 * Word, Head.toLong << 32 | (end - Head))
    val row = new UnsafeRow(columns.length)
    row.pointTo(bytes, end)
    row
  }

  /** The same in no more memory than it needs. */
  def toTrimmedRow: UnsafeRow = if (end == bytes.length) toRow else toRow.copy()
}

private[physical] object RowChunk {
  private val Word = 8
  private val Head = 3 * Word

  /** Where a chunk goes. */
  val number: Attribute = AttributeReference("number", IntegerType, nullable = false)()

  /** What a chunk is as a row. */
  val columns: Seq[Attribute] =
    Seq(number, AttributeReference("rows", BinaryType, nullable = false)())

  /** How many bytes of a chunk a row takes. */
  def needed(row: UnsafeRow): Int = SizedRows.needed(row)

  /**
   * The rows of a chunk; each overwrites the one before.
   *
   * @param fields how many columns a row has
   */
  def rows(chunk: UnsafeRow, fields: Int): Iterator[InternalRow] = {
    val begin = chunk.getBaseOffset + Head
    SizedRows.read(chunk.getBaseObject, begin, begin + chunk.getLong(1).toInt, fields)
  }
}
