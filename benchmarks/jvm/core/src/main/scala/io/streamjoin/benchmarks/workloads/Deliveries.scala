package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{IntervalLoop, Loop, Pairs}

/**
 * Orders and deliveries of an item, a row of each a millisecond, in an order disturbed by less than
 * the lag: `delivered BETWEEN ordered AND ordered + window`.
 *
 *   - `keys`: items; with `skew` half, one of them is in half of the rows
 *   - `keyed`: no if any item will do, so that rows meet by their times alone
 *   - `how`: inner or left
 *   - `order`: yes if the result is to come in the order of the orders' times
 *   - `behind`: by how much the deliveries' clock is behind
 *   - `idle`: yes if no delivery arrives in the middle third, after which come all that were missed
 */
final class Deliveries(name: String, asked: Parameters)
    extends Workload(name, Deliveries.defaults(asked)) {
  private val trade = new Trade(parameters)
  private val window = parameters.number("window")
  private val left = parameters.text("how") == "left"
  private val keyed = parameters.text("keyed") == "yes"
  private val inOrder = parameters.text("order") == "yes"

  override val streams: IndexedSeq[RowStream] = IndexedSeq(trade.orders, trade.deliveries)

  override def query(dialect: Dialect): String =
    s"""SELECT o.id, d.id
       |FROM orders o ${if (left) "LEFT" else "INNER"} JOIN deliveries d
       |  ON ${if (keyed) "o.item = d.item AND" else ""}
       |     d.delivered BETWEEN o.ordered AND o.ordered + ${Workload.interval(window)}
       |${if (inOrder) "ORDER BY o.ordered" else ""}
       |""".stripMargin

  override def preserved: Option[Preserved] =
    Option.when(left)(Preserved(trade.deliveries, order => trade.orders.value(order, 2) + window))

  override def loop(result: Checksum): Loop = new Loop {
    private val join = new IntervalLoop(
      bucket = math.max(window, 1),
      new Pairs {
        override def pair(order: Long, unused: Long, delivery: Long): Unit =
          result.add(order).add(delivery).end()

        override def alone(order: Long, unused: Long): Unit =
          if (left) result.add(order).addNull().end()
      }
    )

    override def arrive(stream: Int, row: Long): Unit = {
      val input = streams(stream)
      val (id, time) = (input.value(row, 0), input.value(row, 2))
      val item = if (keyed) input.value(row, 1) else 0L
      if (stream == 0) join.left(item, time, time + window, id, 0, leftWatermark = time - input.lag)
      else join.right(item, time, id, rightWatermark = time - input.lag)
    }

    override def bufferedRows: Long = join.bufferedRows
    override def bufferedBytes: Long = join.bufferedBytes
  }
}

object Deliveries {
  val Batch = 25000

  def defaults(asked: Parameters): Parameters =
    asked.or(
      "rows" -> 200000,
      "batch" -> Batch,
      "window" -> 60000,
      "lag" -> 5000,
      "keys" -> 100000,
      "skew" -> "none",
      "keyed" -> "yes",
      "how" -> "inner",
      "order" -> "no",
      "behind" -> 0,
      "idle" -> "no",
      "seed" -> 1
    )
}
