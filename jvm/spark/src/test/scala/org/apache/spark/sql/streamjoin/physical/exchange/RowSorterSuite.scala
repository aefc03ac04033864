package org.apache.spark.sql.streamjoin.physical.exchange

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Rows in Spark's sorter, which shows an order of ours whole rows. */
class RowSorterSuite extends AnalysisSession {
  import RowSorterSuite._

  private def sorted(rows: Seq[Plain]): Seq[Plain] =
    session.sparkContext.parallelize(rows, 1).mapPartitions(byNumberAndBytes).collect().toSeq

  test("rows of one number come out alike, in whatever sequence they went in") {
    val rows =
      for (n <- 0L until 20L; s <- Seq("", "a", "b", "ab", "a longer one")) yield (n % 4, s)
    val expected = sorted(rows)
    assert(expected.map(_._1) == rows.map(_._1).sorted)
    assert(expected.sorted == rows.sorted)
    for (seed <- 1 to 5) assert(sorted(new Random(seed).shuffle(rows)) == expected)
  }
}

private object RowSorterSuite {
  type Plain = (Long, String)

  /** In a task. */
  def byNumberAndBytes(rows: Iterator[Plain]): Iterator[Plain] = {
    val types = Array[DataType](LongType, StringType)
    val unsafe = UnsafeProjection.create(types)
    val columns = types.toSeq.map(AttributeReference("c", _)())
    RowSorter
      .create(columns, _.getLong(0), RowsByBytes)
      .sort(rows.map(r => unsafe(InternalRow(r._1, UTF8String.fromString(r._2)))))
      .asInstanceOf[Iterator[UnsafeRow]]
      .map(r => (r.getLong(0), r.getString(1)))
  }
}
