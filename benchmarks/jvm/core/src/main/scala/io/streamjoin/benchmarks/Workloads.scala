package io.streamjoin.benchmarks

import io.streamjoin.benchmarks.workloads._

/** Every workload by its name, with what makes it that workload. */
object Workloads {

  private val named: Map[String, (String, Parameters) => Workload] = Map(
    "W1" -> ((n, p) => new Deliveries(n, p)),
    "W1-hot" -> ((n, p) => new Deliveries(n, hot(p))),
    "W1-catchup" -> ((n, p) => new Deliveries(n, catchup(p))),
    "W2" -> ((n, p) => new Deliveries(n, p.or("behind" -> 120000))),
    "W3" -> ((n, p) => new Returns(n, p)),
    "N4" -> ((n, p) => new WinningBids(n, p.or("extra" -> "no"))),
    "N7" -> ((n, p) => new HighestBid(n, p)),
    "N8" -> ((n, p) => new NewSellers(n, p)),
    "N9" -> ((n, p) => new WinningBids(n, p.or("extra" -> "yes"))),
    "N20" -> ((n, p) => new WinningBids(n, p.or("extra" -> "yes", "category" -> 10))),
    "Q3" -> ((n, p) => new LocalSellers(n, whole(p))),
    "Q4" -> ((n, p) => new CategoryPrices(n, whole(p))),
    "Q7" -> ((n, p) => new HighestBid(n, whole(p))),
    "Q8" -> ((n, p) => new WindowedSellers(n, whole(p))),
    "Q9" -> ((n, p) => new WinningBid(n, whole(p))),
    "Q20" -> ((n, p) => new AuctionedBids(n, whole(p))),
    "Q23" -> ((n, p) => new SellingBidders(n, whole(p))),
    "R3" -> ((n, p) => new LocalSellers(n, p)),
    "R20" -> ((n, p) => new AuctionedBids(n, p)),
    "U1" -> ((n, p) => new KeyedUpdates(n, p)),
    "U2" -> ((n, p) => new FanOut(n, p)),
    "U3" -> ((n, p) => new Duplicates(n, p)),
    "CH" -> ((n, p) => new LeftChain(n, p)),
    "V1" -> ((n, p) => new Rates(n, p)),
    "FLAT" -> ((n, p) => new KeyedUpdates(n, p)),
    "LAT" -> ((n, p) => small(n, p.or("batch" -> 1000, "how" -> "left", "rows" -> 60000)))
  )

  def names: Seq[String] = named.keys.toSeq.sorted

  def of(name: String, parameters: Parameters): Workload =
    named
      .getOrElse(name, throw new IllegalArgumentException(s"$name is none of $names"))
      .apply(name, parameters)

  /** Nexmark with all columns. */
  private def whole(p: Parameters): Parameters = p.or("whole" -> "yes", "extra" -> "yes")

  /** With `part`, the query without its join. */
  private def small(name: String, p: Parameters): Workload =
    if (p.values.contains("part")) new Unjoined(name, p) else new Deliveries(name, p)

  /** Few keys, so that a key holds far more than a row of it matches. */
  private def hot(p: Parameters): Parameters =
    p.or("keys" -> 100, "skew" -> "none").or(
      "window" -> (if (p.values.get("skew").contains("half")) 20 else 1000)
    )

  /** A batch spans ten windows. */
  private def catchup(p: Parameters): Parameters = {
    val batch = p.or("batch" -> Deliveries.Batch)
    batch.or("window" -> batch.number("batch") / 10, "lag" -> batch.number("batch") / 100)
  }
}
