package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}

/**
 * Comparison of two rows by the bytes of some expressions. Plain columns of fixed length are
 * compared word by word, without a projection.
 */
private[physical] sealed abstract class EqualColumns {
  def apply(one: UnsafeRow, other: UnsafeRow): Boolean
}

private[physical] object EqualColumns {

  /**
   * @param ofOne the compared expressions of the first row
   * @param ofOther the compared expressions of the second row, in the same order
   * @param columns the columns of each row
   */
  def of(
      ofOne: Seq[Expression],
      ofOther: Seq[Expression],
      columns: Seq[Attribute]
  ): EqualColumns = {
    def places(some: Seq[Expression]) = some.collect {
      case a: Attribute if UnsafeRow.isFixedLength(a.dataType) =>
        columns.indexWhere(_.exprId == a.exprId)
    }.toArray
    val (one, other) = (places(ofOne), places(ofOther))
    if (one.length == ofOne.length && other.length == ofOther.length) new InWords(one, other)
    else new InBytes(ofOne, ofOther, columns)
  }

  private final class InWords(placesOfOne: Array[Int], placesOfOther: Array[Int])
      extends EqualColumns {

    override def apply(one: UnsafeRow, other: UnsafeRow): Boolean = {
      var k = 0
      while (k < placesOfOne.length && isSame(one, placesOfOne(k), other, placesOfOther(k))) k += 1
      k == placesOfOne.length
    }

    private def isSame(one: UnsafeRow, i: Int, other: UnsafeRow, j: Int): Boolean =
      one.getLong(i) == other.getLong(j) && one.isNullAt(i) == other.isNullAt(j)
  }

  private final class InBytes(
      ofOne: Seq[Expression],
      ofOther: Seq[Expression],
      columns: Seq[Attribute]
  ) extends EqualColumns {
    private val (toOne, toOther) =
      (UnsafeProjection.create(ofOne, columns), UnsafeProjection.create(ofOther, columns))

    override def apply(one: UnsafeRow, other: UnsafeRow): Boolean = toOne(one) == toOther(other)
  }
}
