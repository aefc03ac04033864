package io.streamjoin.benchmarks.workloads

import java.util.Arrays

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/**
 * Orders of an item, and rates of the items that are inserted and then updated: each order with the rate
 * that was valid at its time. An order and a change a millisecond, both in an order disturbed by less than
 * the lag.
 *
 *   - `keys`: items
 *   - `how`: inner or left
 */
final class Rates(name: String, asked: Parameters)
    extends Workload(name, Rates.defaults(asked)) {
  import Rates._

  private val (rows_, lag, seed) =
    (parameters.number("rows"), parameters.number("lag"), parameters.number("seed"))
  private val keys = Changes.keys(math.min(parameters.number("keys"), rows_))
  private val left = parameters.text("how") == "left"
  private val orders = new Trade(parameters.but("keys" -> keys)).orders
  private val changes = new Changes(keys, rows_, zipf = false, seed * 10 + 5)

  private def rate(change: Long) = Hash.below(100000, seed * 10 + 6, change)

  override val streams: IndexedSeq[RowStream] = IndexedSeq(
    orders,
    changes.stream("rates", 1, rows_, valid = Some(Column.time("changed")(validFrom) -> lag))(
      "rate" -> ((_, change) => rate(change))
    )
  )

  override def query(dialect: Dialect): String = {
    val join = if (left) "LEFT JOIN" else "JOIN"
    if (dialect == Dialect.Spark)
      s"""SELECT o.id, max_by(r.rate, r.changed)
         |FROM orders o $join rates r ON o.item = r.id AND r.changed <= o.ordered
         |GROUP BY o.id
         |""".stripMargin
    else
      s"""SELECT o.id, r.rate
         |FROM orders o $join rates FOR SYSTEM_TIME AS OF o.ordered AS r ON o.item = r.id
         |""".stripMargin
  }

  override def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      val byKey = versions
      for (order <- 0L until rows_) {
        val (item, time) = (orders.value(order, 1).toInt, orders.value(order, 2))
        val found = Arrays.binarySearch(byKey(item).map(validFrom), time)
        val last = if (found >= 0) found else -found - 2
        if (last >= 0) result.add(order).add(rate(byKey(item)(last))).end()
        else if (left) result.add(order).addNull().end()
      }
    })

  /** Of each key its changes by their times. */
  private def versions: Array[Array[Long]] = {
    val found = Array.fill(keys.toInt)(Array.newBuilder[Long])
    for (change <- 0L until rows_) found(changes.key(change).toInt) += change
    found.map(_.result().sortBy(validFrom))
  }
}

object Rates {

  /** Less than the lag. */
  private val Block = 4096L

  /** Another time for each change: the times of a block are those of its changes, in another order. */
  private def validFrom(change: Long): Long =
    RowStream.Begin + change / Block * Block + (change % Block * 2731 + 1234) % Block

  def defaults(asked: Parameters): Parameters = {
    val p = Deliveries.defaults(asked)
    require(p.number("lag") >= Block || asked.values.contains("lag"), "the lag is below a block")
    p
  }
}
