package org.apache.spark.sql.streamjoin.physical.exchange

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Packs the rows of a shuffle into chunks by target partition. */
class RowPackerSuite extends AnalysisSession {

  private type Row = (Long, String)

  private def unsafe(rows: Iterator[Row]): Iterator[UnsafeRow] = {
    val project = UnsafeProjection.create(Array[DataType](LongType, StringType))
    // one reused row object
    rows.map { case (k, v) => project(InternalRow(k, UTF8String.fromString(v))) }
  }

  private def plain(row: InternalRow): Row = (row.getLong(0), row.getString(1))

  private def random(count: Int, largest: Int): Seq[Row] = {
    val random = new Random(count)
    Seq.tabulate(count)(i => (i.toLong, "x" * random.nextInt(largest)))
  }

  private val cases = Seq((0, 1, 1), (1, 1, 9), (5000, 20, 40), (5000, 20, 1), (9, 90000, 2))

  test("each chunk has rows of one number, and all rows are in order") {
    for ((count, largest, numbers) <- cases; before <- Seq(0, count / 3, count)) {
      val rows = random(count, largest)
      def number(row: InternalRow): Int = (row.getLong(0) * 7 % numbers).toInt
      val packer = new RowPacker(numbers)
      val all = unsafe(rows.iterator).map(row => new NumberedRow().to(number(row), row))
      for (_ <- 1 to before) {
        val next = all.next()
        packer.add(next.number, next.row.asInstanceOf[UnsafeRow])
      }
      val chunks = packer.chunks(all).toVector.map { case chunk =>
        assert(RowPacker.rows(Iterator(chunk._2), 2).forall(number(_) == chunk._1))
        chunk._1 -> RowPacker.rows(Iterator(chunk._2), 2).map(plain).toVector
      }
      assert(packer.rows == count)
      assert(RowPacker.rows(Iterator.empty, 2).isEmpty)
      for (n <- 0 until numbers) {
        val found = chunks.filter(_._1 == n)
        assert(found.flatMap(_._2) == rows.filter(_._1 * 7 % numbers == n))
        assert(found.forall(_._2.nonEmpty))
        if (largest <= 20) assert(found.length <= 5 + found.map(_._2.length).sum / 200)
      }
    }
  }
}
