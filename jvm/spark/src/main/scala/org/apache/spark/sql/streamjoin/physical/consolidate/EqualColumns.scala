package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}

/** Whether two rows have the same bytes in some columns: of plain ones of a fixed length the words are compared. */
private[physical] sealed abstract class EqualColumns {
  def apply(one: UnsafeRow, other: UnsafeRow): Boolean
}

private[physical] object EqualColumns {

  /**
   * @param ofOne what is compared of the first row
   * @param ofOther what is compared of the second with that, one by one
   * @param columns of both rows
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
