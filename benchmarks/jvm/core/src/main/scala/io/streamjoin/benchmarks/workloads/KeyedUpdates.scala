package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/**
 * Orders and payments of the same ids, both inserted and then updated: `orders LEFT JOIN payments` by the
 * unique key of both. A fourth of the orders has no payment.
 *
 *   - `rows`: changes of each input
 *   - `keys`: of each input; a fifth of the changes unless they are given
 *   - `skew`: zipf, or none
 *   - `sink`: takes all changes, or is a table: see [[io.streamjoin.benchmarks.Workload.tableKeys]]
 *   - `standing`: see [[io.streamjoin.benchmarks.Workload]]
 */
final class KeyedUpdates(name: String, asked: Parameters)
    extends Workload(name, KeyedUpdates.defaults(asked)) {
  private val (rows_, seed) = (parameters.number("rows"), parameters.number("seed"))
  private val keys = math.min(
    Changes.keys(rows_),
    Changes.keys(parameters.values.get("keys").fold(rows_ / 5)(_.toLong))
  )
  private val zipf = parameters.text("skew") == "zipf"
  private val (orders, payments) =
    (new Changes(keys, rows_, zipf, seed * 10 + 1), new Changes(keys, rows_, zipf, seed * 10 + 2))

  private def amount(change: Long) = Hash.below(100000, seed * 10 + 3, change)
  private def paid(change: Long) = Hash.below(100000, seed * 10 + 4, change)
  private def isPaid(key: Long) = key / Arrival.Lanes % 4 != 3
  private def paymentOf(key: Long) = if (isPaid(key)) key else keys + key

  override val streams: IndexedSeq[RowStream] = IndexedSeq(
    orders.stream("orders", 0, rows_)("amount" -> ((_, change) => amount(change))),
    payments.stream("payments", 1, rows_, id = paymentOf)("paid" -> ((_, change) => paid(change)))
  )

  override def query(dialect: Dialect): String =
    s"""SELECT o.id, o.amount, p.paid${Workload.changeType(dialect)}
       |FROM orders o LEFT JOIN payments p ON o.id = p.id
       |""".stripMargin

  override val tableKeys: Option[Long] =
    Option.when(parameters.text("sink") == "table")(keys)

  override def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      val (lastOrder, lastPayment) = (orders.last, payments.last)
      for (key <- lastOrder.indices if lastOrder(key) >= 0) {
        result.add(key.toLong).add(amount(lastOrder(key).toLong))
        if (isPaid(key.toLong) && lastPayment(key) >= 0) {
          result.add(paid(lastPayment(key).toLong))
        } else result.addNull()
        result.end()
      }
    })
}

object KeyedUpdates {

  def defaults(asked: Parameters): Parameters =
    asked.or("rows" -> 200000, "batch" -> 25000, "skew" -> "none", "seed" -> 1, "sink" -> "changes")
}
