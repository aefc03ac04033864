package org.apache.spark.sql.streamjoin.physical.exchange

import scala.util.Random

import org.apache.spark.sql.RandomDataGenerator
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class PartitionOfRowSuite extends AnyFunSuite {

  for (
    keys <- Seq(
      Seq(IntegerType),
      Seq(StringType),
      Seq(LongType, StringType, DecimalType(20, 3)),
      Seq(TimestampType, DoubleType, BinaryType),
      Seq(ArrayType(StringType), new StructType().add("a", DateType).add("b", FloatType))
    )
  )
    test(
      s"a row has the partition of Spark's shuffle, by ${keys.map(_.catalogString).mkString(", ")}"
    ) {
      val columns =
        keys.zipWithIndex.map { case (t, i) => AttributeReference(s"k$i", t, nullable = true)() }
      val partitioning = HashPartitioning(columns.reverse, 7)
      val spark = UnsafeProjection.create(Seq(partitioning.partitionIdExpression), columns)
      val place = new PartitionOfRow(partitioning, columns)
      val schema = StructType(columns.map(c => StructField(c.name, c.dataType)))
      val values = RandomDataGenerator.forType(schema, nullable = false, new Random(7)).get
      val read = CatalystTypeConverters.createToCatalystConverter(schema)
      val rows = UnsafeProjection.create(schema)
      for (n <- 1 to 3 * PartitionOfRow.AsItIs) {
        val row = rows(read(values()).asInstanceOf[org.apache.spark.sql.catalyst.InternalRow])
        assert(place(row) == spark(row).getInt(0), s"row $n, $row")
      }
    }
}
