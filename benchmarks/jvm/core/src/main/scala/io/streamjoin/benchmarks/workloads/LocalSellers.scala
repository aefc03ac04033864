package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/**
 * Nexmark's q3: auctions of one category and their sellers from three states, without a bound.
 *
 *   - `whole`: yes to select the columns of the original
 */
final class LocalSellers(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked)) {
  private val nexmark = new Auctions(parameters, Arrival.Appended)
  private val (persons, auctions) = (nexmark.statedPersons, nexmark.auctions)
  private val state = persons.indexOf("state")

  private val selection = new Selection("a" -> auctions, "p" -> persons)(
    (if (Auctions.isWhole(parameters)) Seq("a.id", "p.name", "p.city", "p.state")
     else Seq("a.id", "p.id", "p.state")): _*
  )

  override val streams: IndexedSeq[RowStream] = IndexedSeq(persons, auctions)

  override def query(dialect: Dialect): String =
    s"""SELECT ${Workload.changelogHint(dialect)} ${selection.sql}${Workload.changeType(dialect)}
       |FROM auctions a JOIN persons p ON a.seller = p.id
       |WHERE a.category = 10 AND p.state IN (1, 2, 3)
       |""".stripMargin

  override def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      for (auction <- 0L until auctions.rows if auctions.value(auction, 4) == 10) {
        val seller = auctions.value(auction, 3)
        if (seller < persons.rows && (1 to 3).contains(persons.value(seller, state).toInt))
          selection.add(result, auction, seller)
      }
    })
}
