package org.apache.spark.sql.streamjoin.rescale

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.StoredRow
import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side

class RowChunksSuite extends AnyFunSuite {

  private def row(number: Long, words: Int = 1): StoredRow = {
    val row = new UnsafeRow(words)
    val size = UnsafeRow.calculateBitSetWidthInBytes(words) + words * 8
    row.pointTo(new Array[Byte](size), size)
    row.setLong(0, number)
    StoredRow(
      Side.both(number.toInt % 2),
      -number,
      number * 3,
      Array(number, 7),
      number % 3 == 0,
      row
    )
  }

  test("rows come out for their partition, in their order") {
    val found = mutable.Map.empty[Int, Vector[StoredRow]].withDefaultValue(Vector.empty)
    val chunks = new RowChunks(
      3,
      (to, chunk) => found(to) ++= RowChunks.rows(chunk, _ => 1)
    )
    val rows = (0L until 5000L).map(row(_))
    rows.foreach(r => chunks.add((r.time % 3).toInt, r.key, r))
    chunks.flush()
    for (partition <- 0 until 3) {
      val expected = rows.filter(_.time % 3 == partition)
      assert(found(partition).map(_.key) == expected.map(_.key))
      assert(found(partition).map(_.row) == expected.map(_.row))
      assert(found(partition).map(_.limits.toSeq) == expected.map(_.limits.toSeq))
      assert(found(partition).map(r => (r.side, r.time, r.matched)) ==
        expected.map(r => (r.side, r.time, r.matched)))
    }
  }

  test("open chunks have a limit, whatever the number of partitions") {
    var (added, passed, most) = (0L, 0L, 0L)
    val chunks = new RowChunks(100000, (_, chunk) => passed += chunk.length)
    val one = row(1, words = 128)
    val size = 1 + 8 + 8 + 1 + 16 + 4 + one.row.getSizeInBytes
    for (n <- 0 until 200000) {
      chunks.add(n % 100000, 0, one)
      added += size
      most = math.max(most, added - passed)
    }
    chunks.flush()
    assert(passed == added)
    assert(most <= RowChunks.Most)
  }
}
