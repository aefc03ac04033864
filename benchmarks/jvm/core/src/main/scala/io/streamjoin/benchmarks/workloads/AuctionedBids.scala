package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/**
 * Nexmark's q20 as it is written: bids and their auctions of one category, without a bound.
 *
 *   - `whole`: yes to select the columns of the original
 */
final class AuctionedBids(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked.or("extra" -> "yes"))) {
  private val nexmark = new Auctions(parameters, Arrival.Appended)
  private val (auctions, bids) = (nexmark.auctions, nexmark.bids)

  private val selection = new Selection("b" -> bids, "a" -> auctions)(
    (if (Auctions.isWhole(parameters))
       Seq("b.auction", "b.bidder", "b.price", "b.ts", "b.extra") ++ Auctions.Described
     else
       Seq("b.id", "b.price", "a.category") ++
         Seq("a.extra", "b.extra").filter(_ => parameters.text("extra") == "yes")): _*
  )

  override val streams: IndexedSeq[RowStream] = IndexedSeq(auctions, bids)

  override def query(dialect: Dialect): String =
    s"""SELECT ${Workload.changelogHint(dialect)} ${selection.sql}${Workload.changeType(dialect)}
       |FROM auctions a JOIN bids b ON b.auction = a.id
       |WHERE a.category = 10
       |""".stripMargin

  override def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      for (bid <- 0L until bids.rows) {
        val auction = bids.value(bid, 2)
        if (auction < auctions.rows && auctions.value(auction, 4) == 10)
          selection.add(result, bid, auction)
      }
    })
}
