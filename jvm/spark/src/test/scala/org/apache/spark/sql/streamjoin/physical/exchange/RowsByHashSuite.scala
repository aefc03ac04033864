package org.apache.spark.sql.streamjoin.physical.exchange

import scala.util.Random

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streamjoin.AnalysisSession
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Rows sorted by a hash: few, many, and more than memory has room for. */
class RowsByHashSuite extends AnalysisSession {
  import RowsByHashSuite._

  private def sorted(rows: Seq[Plain], most: Option[Long] = None): Seq[Plain] =
    session.sparkContext.parallelize(rows, 1).mapPartitions(byHash(_, most)).collect().toSeq

  private def numbered(hashes: Seq[Long]): Seq[Plain] =
    hashes.zipWithIndex.map { case (h, i) => (h, s"$i".padTo(i % 50, '.')) }

  private def inOrder(rows: Seq[Plain]): Seq[Plain] = rows.sortBy(_._1)

  test("ascending as numbers with a sign; rows of one hash as they came") {
    val random = new Random(1)
    for (length <- Seq(0, 1, 2, 3, 5, 17, 200, 3000, 20000)) {
      val rows = numbered(Seq.fill(length)(random.nextLong()))
      assert(sorted(rows) == inOrder(rows), s"$length")
    }
    val few = Seq(0L, -1L, 1L, Long.MinValue, Long.MaxValue, Long.MinValue + 1, Long.MaxValue - 1)
    for (length <- Seq(10, 1000, 20000)) {
      val rows = numbered(Seq.fill(length)(few(random.nextInt(few.length))))
      assert(sorted(rows) == inOrder(rows), s"$length")
    }
  }

  test("hashes that differ in their last bits alone") {
    val random = new Random(2)
    val bases = Seq.fill(50)(random.nextLong())
    for (length <- Seq(30, 2000, 20000)) {
      val rows =
        numbered(Seq.fill(length)(bases(random.nextInt(bases.length)) ^ random.nextInt(8).toLong))
      assert(sorted(rows) == inOrder(rows), s"$length")
    }
    val near = numbered(random.shuffle((Long.MinValue until Long.MinValue + 2000).toList))
    assert(sorted(near) == inOrder(near))
  }

  test("rows wider than a page") {
    val random = new Random(3)
    val rows = Seq.fill(60)((random.nextLong(), "x" * random.nextInt(100000)))
    assert(sorted(rows) == inOrder(rows))
  }

  test("more than memory has room for") {
    val random = new Random(4)
    val rows = numbered(Seq.fill(20000)(random.nextInt(9000).toLong * random.nextLong()))
    for (most <- Seq(0L, 10000L, 400000L)) {
      val found = sorted(rows, Some(most))
      assert(found.map(_._1) == rows.map(_._1).sorted)
      assert(found.sorted == rows.sorted)
    }
  }
}

private object RowsByHashSuite {
  type Plain = (Long, String)

  private val types = Array[DataType](LongType, StringType)

  /** In a task; one object for all rows, as Spark's own code has it. */
  def byHash(rows: Iterator[Plain], most: Option[Long]): Iterator[Plain] = {
    val unsafe = UnsafeProjection.create(types)
    val columns = types.toSeq.map(AttributeReference("c", _)())
    var (given, freed) = (true, false)
    val memory = most.fold(SortMemory.of(TaskContext.get()))(bytes =>
      new SortMemory {
        override def holds(held: Long): Boolean = {
          assert(given, "asked once more after it was refused")
          given = held <= bytes
          given
        }
        override def free(): Unit = freed = true
      }
    )
    val sorter = new RowsByHash(
      types.length,
      _.getLong(0),
      memory,
      RowSorter.create(columns, _.getLong(0), (_, _) => 0)
    )
    val sorted: Iterator[InternalRow] =
      sorter.sorted(rows.map(r => unsafe(InternalRow(r._1, UTF8String.fromString(r._2)))))
    val out = sorted.map { row =>
      sorted match {
        case h: HashedRows => assert(most.isEmpty && h.hash == row.getLong(0))
        case _             => assert(most.nonEmpty && freed)
      }
      (row.getLong(0), row.asInstanceOf[UnsafeRow].getString(1))
    }
    // read to its end before the next row is asked for
    out.toVector.iterator
  }
}
