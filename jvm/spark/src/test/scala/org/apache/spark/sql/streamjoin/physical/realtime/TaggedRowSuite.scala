package org.apache.spark.sql.streamjoin.physical.realtime

import java.util.UUID

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.util.Utils
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side

class TaggedRowSuite extends AnyFunSuite {

  private val (orders, deliveries) = (UUID.randomUUID, UUID.randomUUID)

  test("a tagged row has the row of its input, with NULL and text") {
    val unsafe = UnsafeProjection.create(Array[DataType](LongType, StringType))
    val writer = new TaggedRow.Writer
    for (side <- Side.both; text <- Seq(null, "", "longer than one word")) {
      val row = unsafe(InternalRow(7L, UTF8String.fromString(text))).copy()
      val tagged = writer.row(3, side, row)
      assert(tagged.getInt(0) == 3)
      assert(TaggedRow.side(tagged).contains(side))
      assert(TaggedRow.content(tagged, 2) == row)
    }
  }

  test("times follow the rows of a task, also after a longer row in the same writer") {
    val writer = new TaggedRow.Writer
    val times =
      Map(orders -> Map("" -> 5L), deliveries -> Map("a, 1" -> 7L, "a, 2" -> Long.MinValue))
    val tagged = writer.times(1, Utils.serialize(times))
    assert(tagged.getInt(0) == 1)
    assert(TaggedRow.side(tagged).isEmpty)
    assert(TaggedRow.times(tagged) == times)
  }

  test("the times of several tasks are the largest by order and group") {
    val read = new ReadTimes
    read.add(Map(orders -> Map("" -> 5L)))
    read.add(Map(orders -> Map("" -> 3L), deliveries -> Map("a" -> 1L)))
    read.add(Map(deliveries -> Map("b" -> 2L, "a" -> 4L)))
    assert(read.all == Map(orders -> Map("" -> 5L), deliveries -> Map("a" -> 4L, "b" -> 2L)))
  }
}
