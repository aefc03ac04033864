package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{FinalTables, Loop}

/**
 * Orders and the customers who made them: `orders LEFT JOIN customers` by another column than the unique
 * key of the orders, of which a customer has eleven. Both are updated; every tenth update gives an order
 * to another customer.
 *
 *   - `rows`: changes of the orders; customers change eleven times less often
 *   - `sink`: as of [[KeyedUpdates]]
 *   - `keyed`: no if the orders are declared without their key
 */
final class FanOut(name: String, asked: Parameters)
    extends Workload(name, KeyedUpdates.defaults(asked.or("keyed" -> "yes"))) {
  import FanOut._

  private val (rows_, seed) = (parameters.number("rows"), parameters.number("seed"))
  private val zipf = parameters.text("skew") == "zipf"
  private val orders = new Changes(Changes.keys(rows_ / 5), rows_, zipf, seed * 10 + 1)
  private val customerKeys = Changes.keys(rows_ / 5 / Fan)
  private val customers = new Changes(customerKeys, arrivedCustomers(rows_), zipf, seed * 10 + 2)

  private def amount(change: Long) = Hash.below(100000, seed * 10 + 3, change)
  private def grade(change: Long) = Hash.below(100, seed * 10 + 4, change)

  /** That of the order's last move. */
  private def customer(change: Long): Long = {
    var moved = change
    while (moved >= orders.keys && Hash.below(10, seed * 10 + 5, moved) != 0)
      moved = orders.replaced(moved)
    Hash.below(customerKeys, seed * 10 + 6, moved)
  }

  override val streams: IndexedSeq[RowStream] = IndexedSeq(
    orders.stream("orders", 0, rows_, keyed = parameters.text("keyed") == "yes")(
      "customer" -> ((_, change) => customer(change)),
      "amount" -> ((_, change) => amount(change))
    ),
    customers.stream("customers", 1, rows_, arrivedCustomers)(
      "grade" -> ((_, change) => grade(change))
    )
  )

  override def query(dialect: Dialect): String =
    s"""SELECT o.id, o.amount, c.grade${Workload.changeType(dialect)}
       |FROM orders o LEFT JOIN customers c ON o.customer = c.id
       |""".stripMargin

  override val tableKeys: Option[Long] =
    Option.when(parameters.text("sink") == "table")(orders.keys)

  override def loop(result: Checksum): Loop =
    new FinalTables(2, streams(_).rows)({
      val (lastOrder, lastCustomer) = (orders.last, customers.last)
      for (order <- lastOrder.indices if lastOrder(order) >= 0) {
        val change = lastOrder(order).toLong
        result.add(order.toLong).add(amount(change))
        lastCustomer.lift(customer(change).toInt).filter(_ >= 0) match {
          case Some(grades) => result.add(grade(grades.toLong))
          case None         => result.addNull()
        }
        result.end()
      }
    })
}

private object FanOut {
  val Fan = 11L

  /** One in eleven steps, which is odd: customers have the lanes of their steps. */
  def arrivedCustomers(step: Long): Long = (step + Fan - 1) / Fan
}
