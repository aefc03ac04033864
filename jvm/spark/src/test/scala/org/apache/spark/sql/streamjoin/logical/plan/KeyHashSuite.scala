package org.apache.spark.sql.streamjoin.logical.plan

import java.lang.Long.rotateRight

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Literal}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{EquiKey, KeyHash}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class KeyHashSuite extends AnyFunSuite {

  // the primes of XXH64
  private val P1 = 0x9e3779b185ebca87L
  private val P2 = 0xc2b2ae3d27d4eb4fL
  private val P3 = 0x165667b19e3779f9L
  private val P4 = 0x85ebca77c2b2ae63L
  private val P5 = 0x27d4eb2f165667c5L
  private val Seed = 42L

  private def hash(value: Any, dataType: DataType): Long =
    KeyHash.of(Seq(Literal(value, dataType))).eval().asInstanceOf[Long]

  /** The inverse of an odd number modulo 2 to the power of 64. */
  private def inverse(odd: Long): Long =
    Iterator.iterate(odd)(x => x * (2 - odd * x)).drop(6).next()

  private def withoutUpperBits(mixed: Long, by: Int): Long =
    Iterator.iterate(mixed)(x => mixed ^ (x >>> by)).drop(64 / by).next()

  private def unmixed(hash: Long): Long = {
    val first = withoutUpperBits(hash, 32) * inverse(P3)
    withoutUpperBits(withoutUpperBits(first, 29) * inverse(P2), 33)
  }

  private def longOf(hash: Long): Long = {
    val word = rotateRight((unmixed(hash) - P4) * inverse(P1), 27) ^ (Seed + P5 + 8)
    rotateRight(word * inverse(P1), 31) * inverse(P2)
  }

  private def intOf(hash: Long): Long = {
    val word = rotateRight((unmixed(hash) - P3) * inverse(P2), 23) ^ (Seed + P5 + 4)
    word * inverse(P1)
  }

  test("the hash of a whole number or a time is invertible") {
    val random = new Random(1)
    val edges = Seq(0L, 1L, -1L, Long.MinValue, Long.MaxValue)
    for (value <- edges ++ Seq.fill(1000)(random.nextLong())) {
      for (dataType <- Seq(LongType, TimestampType, TimestampNTZType))
        assert(longOf(hash(value, dataType)) == value, dataType)
      for (dataType <- Seq(IntegerType, DateType))
        assert(intOf(hash(value.toInt, dataType)).toInt == value.toInt, dataType)
      assert(intOf(hash(value.toShort, ShortType)).toShort == value.toShort)
      assert(intOf(hash(value.toByte, ByteType)).toByte == value.toByte)
    }
  }

  private def equality(dataType: DataType, nullSafe: Boolean = false) =
    EquiKey(AttributeReference("x", dataType)(), AttributeReference("y", dataType)(), nullSafe)

  test("a hash is exact only for one whole number or time that is compared by =") {
    for (t <- Seq(ByteType, ShortType, IntegerType, LongType, DateType, TimestampType))
      assert(KeyHash.isExact(Seq(equality(t))), t)
    for (t <- Seq(StringType, DoubleType, DecimalType(10, 2), BinaryType))
      assert(!KeyHash.isExact(Seq(equality(t))), t)
    assert(!KeyHash.isExact(Seq(equality(LongType, nullSafe = true))))
    assert(!KeyHash.isExact(Seq(equality(LongType), equality(LongType))))
    assert(!KeyHash.isExact(Nil))
  }
}
