package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/**
 * Four LEFT joins by the unique key of five tables, of which the first is updated and the others
 * are loaded before. A fourth of the rows of each of those is missing.
 *
 *   - `first`: `left` if the table that is updated is on the left of each join, `right` if each join is on the
 *     right of the next: then its change comes to every join as one of the right input
 *   - `rows`: changes of the first table
 */
final class LeftChain(name: String, asked: Parameters)
    extends Workload(name, KeyedUpdates.defaults(asked.or("first" -> "left"))) {
  import LeftChain._

  private val (rows_, seed) = (parameters.number("rows"), parameters.number("seed"))
  private val keys = Changes.keys(rows_ / 5)
  private val first = new Changes(keys, rows_, parameters.text("skew") == "zipf", seed * 10 + 1)
  private val other = new Changes(keys, keys, zipf = false, seed * 10 + 2)
  private val onTheRight = parameters.text("first") == "right"

  private def points(table: Int, change: Long) = Hash.below(100000, seed * 10 + 3 + table, change)

  /** The first table has all keys if it decides which rows are emitted. */
  private def has(table: Int, key: Long): Boolean =
    table == (if (onTheRight) Others else 0) || Hash.below(4, seed * 10 + 8, key * 5 + table) != 0

  private def id(table: Int)(key: Long): Long = if (has(table, key)) key else keys + key

  private def standing(table: Int): RowStream =
    other.stream(s"t$table", table, rows_, step => math.min(step, keys), id(table))(
      "points" -> ((_, change) => points(table, change))
    )

  override val streams: IndexedSeq[RowStream] =
    first.stream("t0", 0, rows_, id = id(0))("points" -> ((_, change) => points(0, change))) +:
      (1 to Others).map(standing)

  override def query(dialect: Dialect): String = {
    val joins =
      if (onTheRight)
        s"""t4 LEFT JOIN (t3 LEFT JOIN (t2 LEFT JOIN (t1 LEFT JOIN t0
           |  ON t1.id = t0.id) ON t2.id = t1.id) ON t3.id = t2.id) ON t4.id = t3.id""".stripMargin
      else (1 to Others).map(t => s" LEFT JOIN t$t ON t0.id = t$t.id").mkString("t0", "", "")
    val values = (0 to Others).map(t => s"t$t.points AS v$t").mkString(", ")
    s"SELECT ${if (onTheRight) "t4" else "t0"}.id, $values${Workload.changeType(dialect)} FROM $joins"
  }

  override def loop(result: Checksum): Loop =
    new FinalTables(streams.length, streams(_).rows)({
      val last = first.last
      for (key <- 0L until keys; own = ids(key)) {
        result.add(own)
        for (table <- 0 to Others) {
          val joined =
            if (onTheRight) (table to Others).forall(has(_, key)) else has(table, key)
          if (joined) result.add(points(table, if (table == 0) last(key.toInt).toLong else key))
          else result.addNull()
        }
        result.end()
      }
    })

  private def ids(key: Long): Long = id(if (onTheRight) Others else 0)(key)
}

private object LeftChain {
  private val Others = 4
}
