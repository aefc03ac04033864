package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.streamjoin.state.segment.pages.RowCodec

/**
 * Copies Spark's rows, which are bytes already. `read` reuses one row that points to the bytes read
 * last.
 */
private[checkpoint] final class UnsafeRowCodec(fields: Int) extends RowCodec[UnsafeRow] {
  private val row = new UnsafeRow(fields)

  override def size(row: UnsafeRow): Int = row.getSizeInBytes

  override def write(row: UnsafeRow, into: Array[Byte], at: Int): Unit =
    row.writeToMemory(into, Platform.BYTE_ARRAY_OFFSET + at)

  override def read(from: Array[Byte], at: Int, size: Int): UnsafeRow = {
    row.pointTo(from, Platform.BYTE_ARRAY_OFFSET + at, size)
    row
  }
}
