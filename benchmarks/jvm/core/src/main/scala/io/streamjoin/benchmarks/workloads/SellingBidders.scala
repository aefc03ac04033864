package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/** Nexmark's q23: bids with their bidder and all auctions that the bidder opens, without a bound. */
final class SellingBidders(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked)) {
  private val nexmark = new Auctions(parameters, Arrival.Appended)
  private val (persons, auctions, bids) = (nexmark.persons, nexmark.auctions, nexmark.bids)
  private val (seller, bidder) = (auctions.indexOf("seller"), bids.indexOf("bidder"))

  private val selection = new Selection("b" -> bids, "p" -> persons, "a" -> auctions)(
    Seq("b.bidder", "b.price", "b.extra", "p.id", "p.name", "p.city", "p.state", "p.extra") ++
      Auctions.Described: _*
  )

  override val streams: IndexedSeq[RowStream] = IndexedSeq(persons, auctions, bids)

  override def query(dialect: Dialect): String =
    s"""SELECT ${Workload.changelogHint(dialect)} ${selection.sql}${Workload.changeType(dialect)}
       |FROM bids b
       |  JOIN persons p ON p.id = b.bidder
       |  JOIN auctions a ON a.seller = b.bidder
       |""".stripMargin

  override def loop(result: Checksum): Loop =
    new FinalTables(3, streams(_).rows)({
      val bySeller = (0L until auctions.rows).groupBy(auctions.value(_, seller))
      for (bid <- 0L until bids.rows) {
        val person = bids.value(bid, bidder)
        if (person < persons.rows)
          bySeller.getOrElse(person, Nil).foreach(selection.add(result, bid, person, _))
      }
    })
}
