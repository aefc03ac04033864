package org.apache.spark.sql.streamjoin.physical.consolidate

import java.lang.Long.compareUnsigned

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.streamjoin.physical.exchange.RowsByBytes

/**
 * Comparison of rows by some expressions, as rows of these expressions alone are compared by their
 * bytes. Columns of fixed length are compared in place, without such rows.
 */
private[physical] sealed abstract class RowKey {

  def compare(one: UnsafeRow, other: UnsafeRow): Int

  final def same(one: UnsafeRow, other: UnsafeRow): Boolean = compare(one, other) == 0
}

private[physical] object RowKey {

  /** @param columns the columns of each row */
  def of(expressions: Seq[Expression], columns: Seq[Attribute]): RowKey =
    if (expressions == columns) Whole else other(expressions, columns)

  private def other(expressions: Seq[Expression], columns: Seq[Attribute]): RowKey = {
    val places = expressions.collect {
      case a: Attribute if UnsafeRow.isFixedLength(a.dataType) =>
        columns.indexWhere(_.exprId == a.exprId)
    }.toArray
    if (places.length == expressions.length && places.length <= MostInPlace) new InPlace(places)
    else new Projected(expressions, columns)
  }

  /** The number of columns whose NULL bits fit into one word. */
  private val MostInPlace = 64

  private object Whole extends RowKey {
    override def compare(one: UnsafeRow, other: UnsafeRow): Int = RowsByBytes.compare(one, other)
  }

  /** Compares the NULL bits, then the word of each column. */
  private final class InPlace(places: Array[Int]) extends RowKey {

    override def compare(one: UnsafeRow, other: UnsafeRow): Int = {
      var order =
        if (one.anyNull || other.anyNull)
          compareUnsigned(nulls(one), nulls(other))
        else 0
      var k = 0
      while (order == 0 && k < places.length) {
        order = compareUnsigned(one.getLong(places(k)), other.getLong(places(k)))
        k += 1
      }
      order
    }

    private def nulls(row: UnsafeRow): Long = {
      var bits = 0L
      var k = 0
      while (k < places.length) {
        if (row.isNullAt(places(k))) bits |= 1L << k
        k += 1
      }
      bits
    }
  }

  private final class Projected(expressions: Seq[Expression], columns: Seq[Attribute])
      extends RowKey {

    private def projection = UnsafeProjection.create(expressions, columns)
    private val (toOne, toOther) = (projection, projection)

    override def compare(one: UnsafeRow, other: UnsafeRow): Int =
      RowsByBytes.compare(toOne(one), toOther(other))
  }
}
