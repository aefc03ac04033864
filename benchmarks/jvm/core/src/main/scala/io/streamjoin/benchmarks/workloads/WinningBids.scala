package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{IntervalLoop, Loop, Pairs}

/**
 * The join in Nexmark's q4, q9 and q20: bids while their auction is open, a bound of each row's own.
 *
 *   - `extra`: yes to carry the filler columns along
 *   - `category`: only auctions of this one
 */
final class WinningBids(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked)) {
  private val nexmark = new Auctions(parameters)
  private val (auctions, bids) = (nexmark.auctions, nexmark.bids)
  private val extra = parameters.text("extra") == "yes"
  private val category = parameters.values.get("category").map(_.toLong)

  override val streams: IndexedSeq[RowStream] = IndexedSeq(auctions, bids)

  override def query(dialect: Dialect): String =
    s"""SELECT b.id, b.price, a.category${if (extra) ", a.extra, b.extra" else ""}
       |FROM auctions a JOIN bids b
       |  ON b.auction = a.id AND b.ts BETWEEN a.ts AND a.expires
       |${category.fold("")(c => s"WHERE a.category = $c")}
       |""".stripMargin

  override def loop(result: Checksum): Loop = new Loop {
    private val fillers = (auctions.indexOf("extra"), bids.indexOf("extra"))

    private val join = new IntervalLoop(
      bucket = 1000,
      new Pairs {
        override def pair(auction: Long, unused: Long, bid: Long): Unit = {
          result.add(bid).add(bids.value(bid, 3)).add(auctions.value(auction, 4))
          if (extra)
            result.add(auctions.value(auction, fillers._1)).add(bids.value(bid, fillers._2))
          result.end()
        }

        override def alone(auction: Long, unused: Long): Unit = ()
      }
    )

    override def arrive(stream: Int, row: Long): Unit =
      if (stream == 0) {
        val time = auctions.value(row, 1)
        if (category.forall(_ == auctions.value(row, 4)))
          join.left(
            auctions.value(row, 0),
            time,
            auctions.value(row, 2),
            row,
            0,
            time - auctions.lag
          )
      } else {
        val time = bids.value(row, 1)
        join.right(bids.value(row, 2), time, row, time - bids.lag)
      }

    override def bufferedRows: Long = join.bufferedRows
    override def bufferedBytes: Long = join.bufferedBytes
  }
}
