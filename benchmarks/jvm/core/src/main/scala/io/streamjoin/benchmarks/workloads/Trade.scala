package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._

/**
 * Orders, deliveries and returns: id, item, and the time of each.
 *
 * @param timed whether the engines know the times
 */
private[workloads] final class Trade(p: Parameters, timed: Boolean = true) extends Serializable {
  private val (rows, lag, seed) = (p.number("rows"), p.number("lag"), p.number("seed"))
  private val (keys, behind) = (p.number("keys"), p.number("behind"))
  private val half = p.text("skew") == "half"
  private val idle = p.text("idle") == "yes"

  val orders: RowStream = stream("orders", 0, "ordered", 0, row => row)
  val deliveries: RowStream =
    stream("deliveries", 1, "delivered", behind, if (idle) withoutTheMiddle else row => row)
  val returns: RowStream = stream("returns", 2, "returned", 0, row => row)

  private def stream(
      name: String,
      ordinal: Int,
      time: String,
      behind: Long,
      arrivals: Long => Long
  ): RowStream = {
    def below(bound: Long, use: Int, row: Long) =
      Hash.below(bound, seed * 100 + ordinal * 10 + use, row)
    new RowStream(
      name,
      ordinal,
      IndexedSeq(
        Column.number("id")(row => row),
        Column.number("item") { row =>
          if (half && below(2, 1, row) == 0) 0 else below(keys, 2, row)
        },
        Column.time(time)(row => RowStream.Begin + row - behind - below(lag, 3, row))
      ),
      if (timed) Arrival.Ordered(time, lag) else Arrival.Appended,
      steps = rows,
      arrivals
    )
  }

  private def withoutTheMiddle(row: Long): Long =
    if (row >= rows / 3 && row < rows / 3 * 2) rows / 3 else row
}
