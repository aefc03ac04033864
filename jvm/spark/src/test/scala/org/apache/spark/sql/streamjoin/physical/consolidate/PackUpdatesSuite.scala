package org.apache.spark.sql.streamjoin.physical.consolidate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{BooleanType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** Packs the two images of an update into one row, and passes all other rows. */
class PackUpdatesSuite extends AnyFunSuite {

  private type Row = (Long, Option[Long], Long, Boolean)

  private val columns =
    Seq("id" -> LongType, "v" -> LongType, "seq" -> LongType, "in" -> BooleanType)
      .map { case (name, of) => AttributeReference(name, of)() }
  private val (id, v, seq, in) = (columns(0), columns(1), columns(2), columns(3))

  /**
   * One reused object for all rows, overwritten when the next row is requested, as in Spark's code.
   */
  private def arriving(rows: Seq[Row]): Iterator[UnsafeRow] = new Iterator[UnsafeRow] {
    private val toUnsafe = UnsafeProjection.create(columns, columns)
    private val left = rows.iterator
    private var found: UnsafeRow = _

    override def hasNext: Boolean = {
      if (found == null && left.hasNext) {
        val (id, v, seq, in) = left.next()
        found = toUnsafe(InternalRow(id, v.map(Long.box).orNull, seq, in))
      }
      found != null
    }

    override def next(): UnsafeRow = {
      val row = if (hasNext) found else throw new NoSuchElementException
      found = null
      row
    }
  }

  private def number(row: InternalRow, at: Int) = Option.unless(row.isNullAt(at))(row.getLong(at))

  /** The output rows, each with the image that it replaces. */
  private def paired(rows: Row*): Seq[(Row, Option[Row])] =
    new PackedUpdates(Seq(id, seq), PackedUpdate(in, Seq(v)), columns, arriving(rows)).map { row =>
      val own = (row.getLong(0), number(row, 1), row.getLong(2), row.getBoolean(3))
      own -> Option.when(row.getBoolean(4))((own._1, number(row, 5), own._3, false))
    }.toSeq

  test("consecutive images of an update become one row, also with NULLs") {
    assert(paired((1, Some(5), 7, false), (1, None, 7, true)) ==
      Seq((1L, None, 7L, true) -> Some((1L, Some(5L), 7L, false))))
    assert(paired((1, None, 7, false), (1, Some(6), 7, true)) ==
      Seq((1L, Some(6L), 7L, true) -> Some((1L, None, 7L, false))))
  }

  test("images of different rows or in another order stay separate") {
    for (
      rows <- Seq[Seq[Row]](
        Seq((1, Some(5), 7, false), (2, Some(5), 7, true)),
        Seq((1, Some(5), 7, false), (1, Some(5), 8, true)),
        Seq((1, Some(5), 7, true), (1, Some(6), 7, false)),
        Seq((1, Some(5), 7, false), (1, Some(6), 7, false)),
        Seq((1, Some(5), 7, false))
      )
    ) assert(paired(rows: _*) == rows.map(_ -> None))
  }

  test("packing keeps all rows and creates none") {
    val random = new Random(3)
    for (_ <- 1 to 300) {
      val rows = Seq.fill(random.nextInt(20)) {
        (
          random.nextInt(2).toLong,
          Option.when(random.nextBoolean())(random.nextInt(3).toLong),
          random.nextInt(2).toLong,
          random.nextBoolean()
        )
      }
      val out = paired(rows: _*)
      assert(out.flatMap { case (row, before) => before.toSeq :+ row } == rows)
      val singles = out.map(p => Option.when(p._2.isEmpty)(p._1))
      for ((Some(a), Some(b)) <- singles.zip(singles.drop(1)))
        assert(a._4 || !b._4 || a._1 != b._1 || a._3 != b._3, rows)
    }
  }
}
