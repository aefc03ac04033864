package org.apache.spark.sql.streamjoin.rewrite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeArrayData, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.apache.spark.sql.types._

import io.streamjoin.model.Side

/** Packs the rows of both sides into rows with the same columns, so that one shuffle moves them. */
private[streamjoin] final class MovedRow {

  private val projection = UnsafeProjection.create(MovedRow.columns)

  /** Packs a row. The result is valid until the next one is packed. */
  def apply(row: StoredRow): UnsafeRow = projection(InternalRow(
    row.side.index,
    row.key,
    row.time,
    UnsafeArrayData.fromPrimitiveArray(row.limits),
    row.matched,
    row.row.getBytes
  ))
}

private[streamjoin] object MovedRow {

  private val columns: Array[DataType] =
    Array(IntegerType, LongType, LongType, ArrayType(LongType), BooleanType, BinaryType)

  val Fields: Int = columns.length

  /** @param fields the number of columns of each side's rows */
  def read(moved: InternalRow, fields: Side => Int): StoredRow = {
    val side = Side.both(moved.getInt(0))
    val bytes = moved.getBinary(5)
    val row = new UnsafeRow(fields(side))
    row.pointTo(bytes, bytes.length)
    StoredRow(
      side,
      moved.getLong(1),
      moved.getLong(2),
      moved.getArray(3).toLongArray(),
      moved.getBoolean(4),
      row
    )
  }
}
