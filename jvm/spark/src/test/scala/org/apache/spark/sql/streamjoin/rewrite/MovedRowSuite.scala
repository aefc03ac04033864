package org.apache.spark.sql.streamjoin.rewrite

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side

class MovedRowSuite extends AnyFunSuite {

  private def row(number: Long): StoredRow = {
    val row = new UnsafeRow(1)
    row.pointTo(new Array[Byte](16), 16)
    row.setLong(0, number)
    val limits = Array(number, 7).take((number % 3).toInt)
    StoredRow(Side.both(number.toInt % 2), -number, number * 3, limits, number % 3 == 0, row)
  }

  test("rows are unpacked as they were packed") {
    val moved = new MovedRow
    for (original <- (0L until 100L).map(row)) {
      val found = MovedRow.read(moved(original), _ => 1)
      assert(found.limits.toSeq == original.limits.toSeq)
      assert(found.copy(limits = original.limits) == original)
    }
  }
}
