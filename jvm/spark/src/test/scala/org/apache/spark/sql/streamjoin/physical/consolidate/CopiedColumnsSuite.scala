package org.apache.spark.sql.streamjoin.physical.consolidate

import scala.util.Random

import org.apache.spark.sql.RandomDataGenerator
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  Expression,
  JoinedRow,
  Literal,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.scalatest.funsuite.AnyFunSuite

/** Compares rows of copied columns with those of a projection, byte by byte. */
class CopiedColumnsSuite extends AnyFunSuite {

  private val types = Seq[DataType](
    BooleanType,
    ByteType,
    IntegerType,
    LongType,
    DoubleType,
    DateType,
    TimestampType,
    StringType,
    BinaryType,
    NullType,
    CalendarIntervalType,
    DecimalType(10, 2),
    DecimalType(38, 4),
    ArrayType(StringType),
    MapType(IntegerType, StringType),
    StructType.fromDDL("a INT, b STRING, c DECIMAL(30, 3)")
  )

  private def columns(random: Random): Seq[AttributeReference] =
    Seq.fill(random.nextInt(70))(types(random.nextInt(types.length)))
      .map(AttributeReference("c", _)())

  /** Returns random rows. The projection is compiled once, which takes longer than many rows. */
  private def rows(columns: Seq[Attribute], random: Random): () => UnsafeRow = {
    val projection = UnsafeProjection.create(columns, columns)
    () => projection(values(columns, random)).copy()
  }

  private def values(columns: Seq[Attribute], random: Random): InternalRow = {
    val nulls = random.nextInt(3)
    val values = columns.map { a =>
      // a projection leaves the bytes of the previous row in a NULL interval
      val mayBeNull = nulls > 0 && a.dataType != CalendarIntervalType
      val make = RandomDataGenerator.forType(a.dataType, mayBeNull, random).get
      val value = if (nulls == 2 && mayBeNull) null else make()
      CatalystTypeConverters.createToCatalystConverter(a.dataType)(value)
    }
    InternalRow.fromSeq(values)
  }

  test("columns of two rows are copied in any order, repeatedly, and with appended columns") {
    for (seed <- 0 until 200) withClue(s"seed $seed: ") {
      val random = new Random(seed)
      val (first, second) = (columns(random), columns(random))
      val all = (first ++ second).toIndexedSeq
      val wanted: Seq[Attribute] = random.nextInt(3) match {
        case 0                => all
        case 1                => all.filter(_ => random.nextBoolean())
        case _ if all.isEmpty => Nil
        case _                => Seq.fill(random.nextInt(20))(all(random.nextInt(all.length)))
      }
      val more = random.nextInt(3)
      val copied = CopiedColumns.of(wanted, first, second, more)
      val projected = UnsafeProjection.create(wanted ++ Seq.fill(more)(Literal(0L)), all)
      val (left, right) = (rows(first, random), rows(second, random))
      for (_ <- 0 until 5) {
        val (a, b) = (left(), right())
        val (own, expected) = (copied(a, b), projected(new JoinedRow(a, b)))
        assert(own.getSizeInBytes == expected.getSizeInBytes)
        // does not print the rows, which are long
        val differs = (0 until own.getSizeInBytes by 8).find { i =>
          Platform.getLong(own.getBaseObject, own.getBaseOffset + i) !=
            Platform.getLong(expected.getBaseObject, expected.getBaseOffset + i)
        }
        assert(differs.isEmpty, s"of ${wanted.map(_.dataType.sql)} with $more")
      }
    }
  }

  test("a copied row stays valid after its source rows and after the next copy") {
    val column = AttributeReference("c", StringType)()
    val copied = CopiedColumns.of(Seq(column), Seq(column))
    val to = UnsafeProjection.create(Seq(column), Seq(column))
    def of(word: String) =
      copied(to(InternalRow(org.apache.spark.unsafe.types.UTF8String.fromString(word))))
    val (one, other) = (of("one"), of("other"))
    assert(one.getUTF8String(0).toString == "one")
    assert(other.getUTF8String(0).toString == "other")
  }

  test("columns without a source are zero until they are set, at any position") {
    for (seed <- 0 until 100) withClue(s"seed $seed: ") {
      val random = new Random(seed)
      val (first, second) = (columns(random), columns(random))
      val free = Seq.fill(random.nextInt(4))(AttributeReference("free", LongType)())
      val wanted = random.shuffle(first ++ second ++ free)
      val copied = CopiedColumns.of(wanted, first, second)
      val zeros: Seq[Expression] = wanted.map(a => if (free.contains(a)) Literal(0L) else a)
      val (a, b) = (rows(first, random)(), rows(second, random)())
      val expected = UnsafeProjection.create(zeros, first ++ second)(new JoinedRow(a, b))
      val own = copied(a, b)
      assert(own == expected)
      for (column <- free) {
        val at = wanted.indexOf(column)
        own.setLong(at, 7L)
        expected.setLong(at, 7L)
      }
      assert(own == expected)
    }
  }
}
