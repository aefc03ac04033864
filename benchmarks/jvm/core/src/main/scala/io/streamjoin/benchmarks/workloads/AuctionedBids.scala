package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/** Nexmark's q20 as it is written: bids and their auctions of one category, without a bound. */
final class AuctionedBids(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked.or("extra" -> "yes"))) {
  private val nexmark = new Auctions(parameters, Arrival.Appended)
  private val (auctions, bids) = (nexmark.auctions, nexmark.bids)
  private val extra = parameters.text("extra") == "yes"

  override val streams: IndexedSeq[RowStream] = IndexedSeq(auctions, bids)

  override def query(dialect: Dialect): String =
    s"""SELECT ${Workload.changelogHint(dialect)} b.id, b.price, a.category
       |${if (extra) ", a.extra AS described, b.extra" else ""}${Workload.changeType(dialect)}
       |FROM auctions a JOIN bids b ON b.auction = a.id
       |WHERE a.category = 10
       |""".stripMargin

  override def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      val (described, said) = (auctions.indexOf("extra"), bids.indexOf("extra"))
      for (bid <- 0L until bids.rows) {
        val auction = bids.value(bid, 2)
        if (auction < auctions.rows && auctions.value(auction, 4) == 10) {
          result.add(bid).add(bids.value(bid, 3)).add(10)
          if (extra) result.add(auctions.value(auction, described)).add(bids.value(bid, said))
          result.end()
        }
      }
    })
}
