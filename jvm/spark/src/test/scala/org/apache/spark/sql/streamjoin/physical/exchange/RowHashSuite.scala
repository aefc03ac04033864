package org.apache.spark.sql.streamjoin.physical.exchange

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Add,
  AttributeReference,
  BindReferences,
  Expression,
  Literal,
  UnsafeProjection
}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.KeyHash
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** A key has the hash of Spark's expression, since states are probed by it. */
class RowHashSuite extends AnyFunSuite {

  private val types = Seq(
    LongType,
    IntegerType,
    ShortType,
    BooleanType,
    DateType,
    TimestampType,
    TimestampNTZType,
    DoubleType,
    StringType
  )

  private def value(of: DataType, random: Random): Any = of match {
    case _ if random.nextInt(4) == 0                 => null
    case LongType | TimestampType | TimestampNTZType => random.nextLong()
    case ShortType                                   => random.nextInt().toShort
    case BooleanType                                 => random.nextBoolean()
    case DoubleType                                  => random.nextDouble()
    case StringType => UTF8String.fromString("x" * random.nextInt(9))
    case _          => random.nextInt()
  }

  test("the hash equals Spark's expression for any number of columns, also with NULL") {
    for (seed <- 0 until 300) withClue(s"seed $seed: ") {
      val random = new Random(seed)
      val columns = types.map(AttributeReference("c", _)())
      val plain: Seq[Expression] = random.shuffle(columns).take(random.nextInt(4))
      val keys = if (seed % 5 == 0) plain :+ Add(columns.head, Literal(1L)) else plain
      val hash = new RowHash(keys, columns)
      val interpreted = BindReferences.bindReference(KeyHash.of(keys), columns)
      val toRow = UnsafeProjection.create(columns, columns)
      for (_ <- 0 until 10) {
        val row = toRow(InternalRow.fromSeq(columns.map(a => value(a.dataType, random))))
        assert(hash(row) == interpreted.eval(row))
      }
    }
  }
}
