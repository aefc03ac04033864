package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A reusable row of numbers that are never null: the keys of the state. */
private[streamjoin] final class LongRow(fields: Int) {
  private val row = new UnsafeRow(fields)
  private val bytes = UnsafeRow.calculateBitSetWidthInBytes(fields) + fields * 8
  row.pointTo(new Array[Byte](bytes), bytes)

  /** The same row each time, filled with these values. */
  def apply(values: Long*): UnsafeRow = {
    var i = 0
    while (i < fields) {
      row.setLong(i, values(i))
      i += 1
    }
    row
  }
}
