package org.apache.spark.sql.streamjoin.physical.exchange

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** The order of rows by some columns equals the byte order of rows that have only these columns. */
class RowsByBytesSuite extends AnyFunSuite {

  private val types =
    Seq(BooleanType, ByteType, IntegerType, LongType, DoubleType, DateType, StringType)

  private def value(of: DataType, random: Random): Any = {
    val few = Seq(0, 1, -1, 7, -128)(random.nextInt(5))
    of match {
      case _ if random.nextInt(4) == 0 => null
      case BooleanType                 => few > 0
      case ByteType                    => few.toByte
      case LongType                    => few.toLong * (1L << random.nextInt(3) * 20)
      case DoubleType                  => few / 2.0
      case StringType                  => UTF8String.fromString(s"$few")
      case _                           => few
    }
  }

  test("rows compare as projected rows of the key columns, for all types") {
    for (seed <- 0 until 300) withClue(s"seed $seed: ") {
      val random = new Random(seed)
      val among = if (random.nextBoolean()) types else Seq(LongType, IntegerType, BooleanType)
      val columns = Seq.fill(1 + random.nextInt(6))(among(random.nextInt(among.length)))
        .map(AttributeReference("c", _)())
      val image = random.shuffle(columns).take(random.nextInt(columns.length + 1))
      val toRow = UnsafeProjection.create(columns, columns)
      val alone = UnsafeProjection.create(image, columns)
      def row(): UnsafeRow =
        toRow(InternalRow.fromSeq(columns.map(a => value(a.dataType, random)))).copy()
      val key = RowsByBytes.of(image, columns)
      for (_ <- 0 until 30) {
        val (a, b) = (row(), row())
        val expected = RowsByBytes.compare(alone(a).copy(), alone(b).copy())
        assert(math.signum(key.compare(a, b)) == math.signum(expected))
        assert(key.equiv(a, b) == (alone(a).copy() == alone(b).copy()))
      }
    }
  }
}
