package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.unsafe.Platform

/** Order of rows by their bytes: deterministic for rows that no other order distinguishes. */
private[physical] object RowsByBytes extends Ordering[UnsafeRow] {

  override def compare(a: UnsafeRow, b: UnsafeRow): Int = {
    val size = math.min(a.getSizeInBytes, b.getSizeInBytes)
    var i = 0
    while (i < size) {
      val x = Platform.getLong(a.getBaseObject, a.getBaseOffset + i)
      val y = Platform.getLong(b.getBaseObject, b.getBaseOffset + i)
      if (x != y) return java.lang.Long.compareUnsigned(x, y)
      i += 8
    }
    Integer.compare(a.getSizeInBytes, b.getSizeInBytes)
  }

  /**
   * Order of rows by the bytes of some expressions.
   *
   * @param columns the columns of each row
   */
  def of(expressions: Seq[Expression], columns: Seq[Attribute]): Ordering[UnsafeRow] =
    if (expressions == columns) this
    else {
      // an outer join pads rows with NULL in any column
      def projection = UnsafeProjection.create(expressions, columns.map(_.withNullability(true)))
      val (toOne, toOther) = (projection, projection)
      (one, other) => compare(toOne(one), toOther(other))
    }
}
