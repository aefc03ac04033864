package org.apache.spark.sql.streamjoin.checkpoint

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A reusable row of non-null LONG columns, for keys of the state. */
private[streamjoin] final class LongRow(fields: Int) {
  private val row = new UnsafeRow(fields)
  private val bytes = UnsafeRow.calculateBitSetWidthInBytes(fields) + fields * 8
  row.pointTo(new Array[Byte](bytes), bytes)

  /** Fills the row with these values, and returns the same object each time. */
  def apply(values: Long*): UnsafeRow = {
    var i = 0
    while (i < fields) {
      row.setLong(i, values(i))
      i += 1
    }
    row
  }
}
