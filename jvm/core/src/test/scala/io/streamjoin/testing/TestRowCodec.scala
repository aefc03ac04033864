package io.streamjoin.testing

import java.nio.ByteBuffer

import scala.collection.mutable

import io.streamjoin.state.segment.pages.RowCodec

/** Writes a row as its index in a list of all rows, with a length that varies by row. */
final class TestRowCodec extends RowCodec[TestRow] {
  private val rows = mutable.ArrayBuffer.empty[TestRow]

  override def size(row: TestRow): Int = 8 * (1 + Math.floorMod(row.hashCode, 5))

  override def write(row: TestRow, into: Array[Byte], at: Int): Unit = {
    ByteBuffer.wrap(into).putLong(at, rows.length.toLong)
    rows += row
  }

  override def read(from: Array[Byte], at: Int, size: Int): TestRow = {
    val row = rows(ByteBuffer.wrap(from).getLong(at).toInt)
    assert(size == this.size(row))
    row
  }
}
