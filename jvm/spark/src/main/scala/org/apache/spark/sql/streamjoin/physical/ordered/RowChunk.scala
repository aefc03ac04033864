package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Rows packed into bytes, one after the other: the size of each in a word, and the row.
 *
 * {{{
 *   nulls  place, size | size  row  size  row ...
 *   a row of one column of bytes
 * }}}
 *
 * The bytes are those of a row with one column, so whatever moves rows moves a chunk, at the price of one.
 *
 * @param room how many bytes of rows go into it
 */
private[ordered] final class RowChunk(room: Int) {
  import RowChunk._

  private val bytes = new Array[Byte](Head + room)
  private var end = Head

  /** Copies a row to the end; false where there is no room for it. */
  def add(row: UnsafeRow): Boolean = {
    val next = end + needed(row)
    if (next > bytes.length) false
    else {
      Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + end, row.getSizeInBytes.toLong)
      row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + end + Word)
      end = next
      true
    }
  }

  def isEmpty: Boolean = end == Head

  /** All of it as one row, which nothing may be added to any more. */
  def toRow: UnsafeRow = {
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + Word, Head.toLong << 32 | (end - Head))
    val row = new UnsafeRow(1)
    row.pointTo(bytes, end)
    row
  }

  /** The same in no more memory than it needs. */
  def toTrimmedRow: UnsafeRow = if (end == bytes.length) toRow else toRow.copy()
}

private[ordered] object RowChunk {
  private val Word = 8
  private val Head = 2 * Word

  /** How many bytes of a chunk a row takes. */
  def needed(row: UnsafeRow): Int = Word + row.getSizeInBytes

  /**
   * The rows of a chunk; each overwrites the one before.
   *
   * @param fields how many columns a row has
   */
  def rows(chunk: UnsafeRow, fields: Int): Iterator[InternalRow] = new Iterator[InternalRow] {
    private val row = new UnsafeRow(fields)
    private val base = chunk.getBaseObject
    private var at = chunk.getBaseOffset + Head
    private val end = at + chunk.getLong(0).toInt

    override def hasNext: Boolean = at < end

    override def next(): InternalRow = {
      val size = Platform.getLong(base, at).toInt
      row.pointTo(base, at + Word, size)
      at += Word + size
      row
    }
  }
}
