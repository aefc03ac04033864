package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/**
 * Orders and offers of an item, without a key: rows are there more than once. A fourth of the changes
 * takes one of them back. `orders LEFT JOIN offers` by item, of which either input has three rows on average.
 */
final class Duplicates(name: String, asked: Parameters)
    extends Workload(name, KeyedUpdates.defaults(asked)) {
  import Duplicates._

  private val (rows_, seed) = (parameters.number("rows"), parameters.number("seed"))
  private val items = math.max(rows_ / 6, 1)

  private def item(side: Int)(row: Long) = Hash.below(items, seed * 10 + side, came(row))
  private def grade(side: Int)(row: Long) = Hash.below(Grades, seed * 10 + 5 + side, came(row))

  private def stream(name: String, side: Int): RowStream =
    new RowStream(
      name,
      side,
      IndexedSeq(
        Column.number("item")(item(side)),
        Column.number("grade")(grade(side)),
        Column.change(row => if (came(row) < row) Kind.Change.delete else Kind.Change.insert)
      ),
      Arrival.Changing(None),
      rows_,
      step => step
    )

  override val streams: IndexedSeq[RowStream] = IndexedSeq(stream("orders", 0), stream("offers", 1))

  override def query(dialect: Dialect): String =
    s"""SELECT l.item, l.grade, r.grade AS offered${Workload.changeType(dialect)}
       |FROM orders l LEFT JOIN offers r ON l.item = r.item
       |""".stripMargin

  override def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      val (orders, offers) = (counts(0), counts(1))
      for (item <- 0L until items; l <- 0L until Grades) {
        val place = (item * Grades).toInt
        val partners =
          for (r <- 0L until Grades; n <- 0 until offers(place + r.toInt)) yield (r, n)
        for (_ <- 0 until orders(place + l.toInt)) {
          for ((r, _) <- partners) result.add(item).add(l).add(r).end()
          if (partners.isEmpty) result.add(item).add(l).addNull().end()
        }
      }
    })

  /** How many rows there are at the end, by item and grade. */
  private def counts(side: Int): Array[Int] = {
    val found = new Array[Int]((items * Grades).toInt)
    for (row <- 0L until rows_) {
      val place = (item(side)(row) * Grades + grade(side)(row)).toInt
      found(place) += (if (came(row) < row) -1 else 1)
    }
    found
  }
}

private object Duplicates {
  private val Grades = 4L

  /** The last of four rounds deletes the rows that the first of an earlier round has inserted. */
  private val Back = 3 + 4 * 8

  /** The row that a row takes back, or itself. */
  private def came(row: Long): Long = {
    val round = row / Arrival.Lanes
    if (round % 4 == 3 && round >= Back) row - Back * Arrival.Lanes else row
  }
}
