package org.apache.spark.sql.streamjoin.physical.eventtime

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types.IntegerType

/** The numbers by which rows reach the partitions that they are sent to. */
class ToBucketsSuite extends AnyFunSuite {

  test("each partition has a number that Spark's hash brings there") {
    val column = AttributeReference("_bucket", IntegerType, nullable = false)()
    for (partitions <- Seq(1, 2, 8, 200)) {
      val numbers = ToBucketsExec.numbers(column, partitions)
      val hash = HashPartitioning(Seq(column), partitions).partitionIdExpression
      val place = UnsafeProjection.create(Seq(hash), Seq(column))
      assert(numbers.map(n => place(InternalRow(n)).getInt(0)).toSeq == (0 until partitions))
    }
  }
}
