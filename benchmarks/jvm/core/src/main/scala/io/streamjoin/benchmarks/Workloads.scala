package io.streamjoin.benchmarks

import io.streamjoin.benchmarks.workloads._

/** Every workload by its name, with what makes it that workload. */
object Workloads {

  private val named: Map[String, Parameters => Workload] = Map(
    "W1" -> (p => new Deliveries(p)),
    "W1-hot" -> (p => new Deliveries(hot(p))),
    "W1-catchup" -> (p => new Deliveries(catchup(p))),
    "W2" -> (p => new Deliveries(p.or("behind" -> 120000))),
    "W3" -> (p => new Returns(p)),
    "N4" -> (p => new WinningBids(p.or("extra" -> "no"))),
    "N7" -> (p => new HighestBid(p)),
    "N8" -> (p => new NewSellers(p)),
    "N9" -> (p => new WinningBids(p.or("extra" -> "yes"))),
    "N20" -> (p => new WinningBids(p.or("extra" -> "yes", "category" -> 10))),
    "LAT" -> (p => new Deliveries(p.or("batch" -> 1000, "how" -> "left", "rows" -> 60000)))
  )

  def names: Seq[String] = named.keys.toSeq.sorted

  def of(name: String, parameters: Parameters): Workload =
    named
      .getOrElse(name, throw new IllegalArgumentException(s"$name is none of $names"))
      .apply(parameters)

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
