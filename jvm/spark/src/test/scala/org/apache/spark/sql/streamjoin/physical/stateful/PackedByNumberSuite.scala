package org.apache.spark.sql.streamjoin.physical.stateful

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Rows that go through a shuffle in chunks, by the number of where they go. */
class PackedByNumberSuite extends AnalysisSession {

  private type Row = (Long, String)

  private def unsafe(rows: Iterator[Row]): Iterator[UnsafeRow] = {
    val project = UnsafeProjection.create(Array[DataType](LongType, StringType))
    // one row that shows one after another
    rows.map { case (k, v) => project(InternalRow(k, UTF8String.fromString(v))) }
  }

  private def plain(row: InternalRow): Row = (row.getLong(0), row.getString(1))

  test("chunks have the rows of one number each, in their order, and all of them") {
    for (
      (count, largest, numbers) <-
        Seq((0, 1, 1), (1, 1, 9), (5000, 20, 40), (5000, 20, 1), (9, 90000, 2))
    ) {
      val random = new Random(count)
      val rows = Seq.tabulate(count)(i => (i.toLong, "x" * random.nextInt(largest)))
      def number(row: InternalRow): Int = (row.getLong(0) * 7 % numbers).toInt
      val chunks = new PackedByNumber(unsafe(rows.iterator), numbers, number).toVector.map {
        chunk =>
          assert(RowChunk.rows(chunk, 2).forall(number(_) == chunk.getInt(0)))
          chunk.getInt(0) -> RowChunk.rows(chunk, 2).map(plain).toVector
      }
      for (n <- 0 until numbers) {
        val found = chunks.filter(_._1 == n)
        assert(found.flatMap(_._2) == rows.filter(_._1 * 7 % numbers == n))
        assert(found.forall(_._2.nonEmpty))
        if (largest <= 20) assert(found.length <= 5 + found.map(_._2.length).sum / 200)
      }
    }
  }
}
