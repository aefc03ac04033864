package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/** Nexmark's q8: persons who open an auction in the tumbling window in which they come. */
final class WindowedSellers(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked)) {
  import Auctions.Slot

  private val nexmark = new Auctions(parameters)
  private val (persons, auctions) = (nexmark.persons, nexmark.auctions)
  private val name_ = persons.indexOf("name")

  override val streams: IndexedSeq[RowStream] = IndexedSeq(persons, auctions)

  override def aggregates: Boolean = true

  override def query(dialect: Dialect): String = {
    val (people, sellers) =
      (windowed(dialect, "persons", "id, name"), windowed(dialect, "auctions", "seller"))
    s"""SELECT p.id, p.name, p.opened
       |FROM ($people) p JOIN ($sellers) a
       |  ON p.id = a.seller AND p.opened = a.opened AND p.closed = a.closed
       |""".stripMargin
  }

  private def windowed(dialect: Dialect, input: String, columns: String): String = dialect match {
    case Dialect.Spark =>
      s"""SELECT $columns, w.start AS opened, window_time(w) AS closed
         |FROM (SELECT $columns, window(ts, '$Slot milliseconds') AS w
         |      FROM $input GROUP BY $columns, window(ts, '$Slot milliseconds'))""".stripMargin
    case Dialect.StreamJoin =>
      s"""SELECT *
         |FROM IMPOSE_ORDER(
         |  TABLE(${windowed(
          Dialect.Spark,
          input,
          columns
        )}), DESCRIPTOR(closed), INTERVAL '0' SECOND)
         |""".stripMargin
    case _ =>
      s"""SELECT $columns, window_start AS opened, window_end AS closed
         |FROM TABLE(TUMBLE(TABLE $input, DESCRIPTOR(ts), ${Workload.interval(Slot)}))
         |GROUP BY $columns, window_start, window_end""".stripMargin
  }

  override def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      def slot(input: RowStream, row: Long) = Math.floorDiv(input.value(row, 1), Slot)
      val sellers =
        (0L until auctions.rows).map(a => (auctions.value(a, 3), slot(auctions, a))).toSet
      for (person <- 0L until persons.rows if sellers((person, slot(persons, person))))
        result
          .add(person)
          .add(persons.value(person, name_))
          .add(slot(persons, person) * Slot)
          .end()
    })
}
