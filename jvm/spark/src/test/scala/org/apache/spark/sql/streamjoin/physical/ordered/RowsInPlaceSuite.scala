package org.apache.spark.sql.streamjoin.physical.ordered

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.streamjoin.physical.exchange.RowPacker
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Rows that are kept in their partitions as chunks of bytes. */
class RowsInPlaceSuite extends AnalysisSession {

  import RowsInPlaceSuite._

  test("chunks return their rows in order") {
    for (
      (count, largest) <- Seq(0 -> 1, 1 -> 1, 1 -> 1000000, 5000 -> 20, 300 -> 5000, 20 -> 1000000)
    ) {
      val rows = random(new Random(count), count, largest)
      val chunks = RowsInPlace.inChunks(unsafe(rows.iterator)).toVector
      assert(RowPacker.rows(chunks.iterator, 2).map(plain).toSeq == rows)
      assert(chunks.forall(_.getSizeInBytes > 0) && chunks.length <= 1 + count)
      // few rows make no large chunk, and many rows make few chunks
      if (largest <= 20)
        assert(chunks.length <= 8 && chunks.map(_.getSizeInBytes).sum <= 64 * count + 128)
    }
  }

  test("a chunk can be copied as a row, to any offset") {
    val chunk = RowsInPlace.inChunks(unsafe(random(new Random(1), 10, 5).iterator)).next()
    val moved = new Array[Byte](chunk.getSizeInBytes + 24)
    chunk.writeToMemory(moved, Platform.BYTE_ARRAY_OFFSET + 24)
    val there = new UnsafeRow(0)
    there.pointTo(moved, Platform.BYTE_ARRAY_OFFSET + 24, chunk.getSizeInBytes)
    assert(RowPacker.rows(Iterator(there), 2).map(plain).toSeq == random(new Random(1), 10, 5))
  }

  test("kept rows are computed once, and again after they are freed") {
    val computed = session.sparkContext.longAccumulator
    val rows = session.sparkContext.parallelize(0 until 4, 4).mapPartitions { part =>
      computed.add(1)
      part.flatMap(p => unsafe(random(new Random(p), 1000, 50).iterator)): Iterator[InternalRow]
    }
    val before = session.sparkContext.getPersistentRDDs.keySet
    val waiting = RowsInPlace.run(rows, 2)
    assert(computed.value == 4)
    val found = waiting.rows.map(plain).glom().collect().map(_.toSeq).toSeq
    assert(found == (0 until 4).map(p => random(new Random(p), 1000, 50)))
    assert(computed.value == 4)
    waiting.free()
    assert(session.sparkContext.getPersistentRDDs.keySet == before)
    assert(waiting.rows.map(plain).glom().collect().map(_.toSeq).toSeq == found)
    assert(computed.value == 8)
  }
}

/** Separate from the suite, which is not serializable. */
private object RowsInPlaceSuite {

  type Row = (Long, String)

  def unsafe(rows: Iterator[Row]): Iterator[UnsafeRow] = {
    val project = UnsafeProjection.create(Array[DataType](LongType, StringType))
    // one reused row object
    rows.map { case (k, v) => project(InternalRow(k, UTF8String.fromString(v))) }
  }

  def plain(row: InternalRow): Row = (row.getLong(0), row.getString(1))

  def random(random: Random, count: Int, largest: Int): Seq[Row] =
    Seq.tabulate(count)(i => (i.toLong, "x" * random.nextInt(largest)))
}
