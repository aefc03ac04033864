package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.physical.exchange.RowsByBytes
import org.apache.spark.sql.types._

/** Order of rows by the bytes of some of their columns. */
private[changelog] sealed abstract class ImageOrder {
  def compare(a: UnsafeRow, b: UnsafeRow): Int
}

private[changelog] object ImageOrder {

  /**
   * @param image the compared columns, in their order
   * @param columns all columns of the rows
   */
  def of(image: Seq[Attribute], columns: Seq[Attribute]): ImageOrder =
    if (image.length == columns.length) Whole
    else if (image.length <= MostInPlace && image.forall(isInWord(_)))
      new InPlace(image.map(a => columns.indexWhere(_.exprId == a.exprId)).toArray)
    else new Projected(image, columns)

  /** The number of columns whose NULL bits fit into one word. */
  private val MostInPlace = 64

  /** Whether the word of a value in a row depends on the value only. */
  private def isInWord(a: Attribute): Boolean = a.dataType match {
    case BooleanType | _: IntegralType | DateType | TimestampType | TimestampNTZType => true
    case _                                                                           => false
  }

  private object Whole extends ImageOrder {
    override def compare(a: UnsafeRow, b: UnsafeRow): Int = RowsByBytes.compare(a, b)
  }

  /** The same order without a copy: by the NULL bits, then by the word of each column. */
  private final class InPlace(places: Array[Int]) extends ImageOrder {

    override def compare(a: UnsafeRow, b: UnsafeRow): Int = {
      val nulls =
        if (a.anyNull || b.anyNull) java.lang.Long.compareUnsigned(nullsOf(a), nullsOf(b)) else 0
      if (nulls != 0) nulls
      else {
        var k = 0
        var order = 0
        while (order == 0 && k < places.length) {
          order = java.lang.Long.compareUnsigned(a.getLong(places(k)), b.getLong(places(k)))
          k += 1
        }
        order
      }
    }

    private def nullsOf(row: UnsafeRow): Long = {
      var bits = 0L
      var k = 0
      while (k < places.length) {
        if (row.isNullAt(places(k))) bits |= 1L << k
        k += 1
      }
      bits
    }
  }

  private final class Projected(image: Seq[Attribute], columns: Seq[Attribute])
      extends ImageOrder {
    private val (ofA, ofB) =
      (UnsafeProjection.create(image, columns), UnsafeProjection.create(image, columns))

    override def compare(a: UnsafeRow, b: UnsafeRow): Int = RowsByBytes.compare(ofA(a), ofB(b))
  }
}
