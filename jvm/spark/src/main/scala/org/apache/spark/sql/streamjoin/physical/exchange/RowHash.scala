package org.apache.spark.sql.streamjoin.physical.exchange

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow,
  XXH64
}
import org.apache.spark.sql.streamjoin.logical.plan.KeyHash
import org.apache.spark.sql.types._

/**
 * Hash of the key columns of a row, see [[KeyHash]]. Integers and times are hashed in place, other
 * types with generated code.
 */
private[physical] sealed abstract class RowHash {
  def apply(row: UnsafeRow): Long
}

private[physical] object RowHash {

  def of(keys: Seq[Expression], columns: Seq[Attribute]): RowHash = {
    val words = keys.collect { case a: Attribute if width(a.dataType) > 0 => a }
    if (words.length == keys.length) {
      new OfWords(
        words.map(a => columns.indexWhere(_.exprId == a.exprId)).toArray,
        words.map(a => width(a.dataType) == LongBytes).toArray
      )
    } else new Generated(KeyHash.of(keys), columns)
  }

  private val LongBytes = 8
  private val IntBytes = 4

  /** The hashed bytes of a value; 0: the type requires generated code. */
  private def width(of: DataType): Int = of match {
    case LongType | TimestampType | TimestampNTZType => LongBytes
    case IntegerType | DateType                      => IntBytes
    case _                                           => 0
  }

  private final class OfWords(places: Array[Int], long: Array[Boolean]) extends RowHash {

    override def apply(row: UnsafeRow): Long = {
      var hash = KeyHash.Seed
      var k = 0
      while (k < places.length) {
        val at = places(k)
        if (!row.isNullAt(at)) {
          hash =
            if (long(k)) XXH64.hashLong(row.getLong(at), hash)
            else XXH64.hashInt(row.getInt(at), hash)
        }
        k += 1
      }
      hash
    }
  }

  private final class Generated(hash: Expression, columns: Seq[Attribute]) extends RowHash {
    private val project = UnsafeProjection.create(Seq(hash), columns)

    override def apply(row: UnsafeRow): Long = project(row).getLong(0)
  }
}
