package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.physical.exchange.RowsByBytes

/**
 * Comparison of rows by some expressions, as rows of these expressions alone are compared by their
 * bytes.
 */
private[physical] sealed abstract class RowKey {

  def compare(one: UnsafeRow, other: UnsafeRow): Int

  final def same(one: UnsafeRow, other: UnsafeRow): Boolean = compare(one, other) == 0
}

private[physical] object RowKey {

  /** @param columns the columns of each row */
  def of(expressions: Seq[Expression], columns: Seq[Attribute]): RowKey =
    if (expressions == columns) Whole else new Projected(expressions, columns)

  private object Whole extends RowKey {
    override def compare(one: UnsafeRow, other: UnsafeRow): Int = RowsByBytes.compare(one, other)
  }

  private final class Projected(expressions: Seq[Expression], columns: Seq[Attribute])
      extends RowKey {

    // an outer join pads rows with NULL in any column
    private def projection =
      UnsafeProjection.create(expressions, columns.map(_.withNullability(true)))
    private val (toOne, toOther) = (projection, projection)

    override def compare(one: UnsafeRow, other: UnsafeRow): Int =
      RowsByBytes.compare(toOne(one), toOther(other))
  }
}
