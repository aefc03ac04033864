package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/**
 * Nexmark's q9 and q4: the highest bid of each auction while it was open, with all columns or as an average
 * by category.
 */
abstract class Winners(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked)) {
  private val nexmark = new Auctions(parameters)
  protected final val (auctions, bids) = (nexmark.auctions, nexmark.bids)

  override final val streams: IndexedSeq[RowStream] = IndexedSeq(auctions, bids)

  /**
   * The condition also says that no auction is open for longer than the longest one. In Spark, only so the
   * time of an auction is an event time above the join, which an aggregation in append mode needs. In Flink,
   * only so the join is an interval join.
   */
  protected final val joined: String =
    s"""FROM auctions a JOIN bids b
       |  ON b.auction = a.id AND b.ts BETWEEN a.ts AND a.expires
       | AND b.ts <= a.ts + ${Workload.interval(Auctions.Longest)}""".stripMargin

  /** Writes the result that follows from auctions and their winning bids. */
  protected def write(winners: Iterator[(Long, Long)], result: Checksum): Unit

  override final def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      val best = Array.fill(auctions.rows.toInt)(-1L)
      for (bid <- 0L until bids.rows; auction = bids.value(bid, 2) if auction < auctions.rows) {
        val (time, before) = (bids.value(bid, 1), best(auction.toInt))
        val isOpen = time >= auctions.value(auction, 1) && time <= auctions.value(auction, 2)
        // bids are in the order of their times
        if (isOpen && (before < 0 || bids.value(bid, 3) > bids.value(before, 3)))
          best(auction.toInt) = bid
      }
      write(best.indices.iterator.map(a => (a.toLong, best(a))).filter(_._2 >= 0), result)
    })
}

/** Nexmark's q9: each auction with its winning bid. */
final class WinningBid(name: String, asked: Parameters) extends Winners(name, asked) {

  private val ofAuction =
    Seq("id", "ts", "expires", "seller", "category", "initial_bid", "reserve", "extra")
  private val ofBid = Seq("bidder", "price", "ts", "extra")

  private val selection = new Selection("a" -> auctions, "b" -> bids)(
    ofAuction.map(c => s"a.$c") ++ ofBid.map(c => s"b.$c"): _*
  )

  override def isCorrected: Boolean = true

  override val tableKeys: Option[Long] = Some(auctions.rows)

  /** Earlier ones of equal prices win: the times are counted backwards. */
  override def query(dialect: Dialect): String = dialect match {
    case Dialect.Spark | Dialect.StreamJoin =>
      val ofAuctions = ofAuction.map(c => s"a.$c").mkString(", ")
      s"""SELECT ${ofAuction.mkString(", ")},
         |  won.bidder, won.price, timestamp_millis(-won.age) AS bid_ts, won.extra AS bid_extra
         |FROM (SELECT $ofAuctions,
         |        MAX(STRUCT(b.price, -unix_millis(b.ts) AS age, b.bidder, b.extra)) AS won
         |      $joined
         |      GROUP BY $ofAuctions)
         |""".stripMargin
    case _ =>
      // a result has one time attribute at most
      val columns = selection.names.map { c =>
        if (c.endsWith("_ts")) s"CAST($c AS TIMESTAMP_LTZ(3)) AS $c" else c
      }
      s"""SELECT ${columns.mkString(", ")}
         |FROM (SELECT ${selection.sql},
         |        ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.ts ASC) AS place
         |      $joined)
         |WHERE place <= 1
         |""".stripMargin
  }

  override protected def write(winners: Iterator[(Long, Long)], result: Checksum): Unit =
    winners.foreach { case (auction, bid) => selection.add(result, auction, bid) }
}

/** Nexmark's q4: the average of the winning prices of each category. */
final class CategoryPrices(name: String, asked: Parameters) extends Winners(name, asked) {

  override def isCorrected: Boolean = true

  override val tableKeys: Option[Long] = Some(Auctions.Categories)

  /** Spark's query gives the winning prices. Its sink adds them up, as it has no second aggregation. */
  override def query(dialect: Dialect): String = dialect match {
    case Dialect.Spark | Dialect.StreamJoin =>
      s"""SELECT category, price
         |FROM (SELECT a.id, a.ts, a.category, MAX(b.price) AS price $joined
         |      GROUP BY a.id, a.ts, a.category)
         |""".stripMargin
    case _ =>
      s"""SELECT category, AVG(price) AS price
         |FROM (SELECT a.id, a.category, MAX(b.price) AS price $joined
         |      GROUP BY a.id, a.category)
         |GROUP BY category
         |""".stripMargin
  }

  override def sums: Option[String] =
    Some("SELECT category, SUM(price), COUNT(*) FROM emitted GROUP BY category")

  override protected def write(winners: Iterator[(Long, Long)], result: Checksum): Unit = {
    val averages = new Averages
    for ((auction, bid) <- winners)
      averages.add(auctions.value(auction, 4), bids.value(bid, 3), 1)
    averages.write(result)
  }
}
