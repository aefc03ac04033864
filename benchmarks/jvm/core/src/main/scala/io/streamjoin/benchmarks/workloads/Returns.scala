package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{IntervalLoop, Loop, Pairs}

/** Orders, their deliveries and the returns of those: two joins in a row, all event times kept. */
final class Returns(name: String, asked: Parameters)
    extends Workload(name, Deliveries.defaults(asked)) {
  private val trade = new Trade(parameters)
  private val window = parameters.number("window")

  override val streams: IndexedSeq[RowStream] =
    IndexedSeq(trade.orders, trade.deliveries, trade.returns)

  override def query(dialect: Dialect): String =
    s"""SELECT x.order_id, x.delivery_id, r.id, x.ordered, x.delivered
       |FROM (
       |  SELECT o.id AS order_id, d.id AS delivery_id, d.item, o.ordered, d.delivered
       |  FROM orders o JOIN deliveries d
       |    ON o.item = d.item
       |   AND d.delivered BETWEEN o.ordered AND o.ordered + ${Workload.interval(window)}
       |) x JOIN ${reserved(dialect)} r
       |  ON x.item = r.item
       | AND r.returned BETWEEN x.delivered AND x.delivered + ${Workload.interval(window)}
       |""".stripMargin

  /** The name of the third input, which is a word of SQL. */
  private def reserved(dialect: Dialect): String =
    if (dialect == Dialect.Hazelcast) "\"returns\"" else "`returns`"

  override def loop(result: Checksum): Loop = new Loop {
    private var (orderWatermark, deliveryWatermark) = (Long.MinValue, Long.MinValue)

    private val second = new IntervalLoop(
      bucket = math.max(window, 1),
      new Pairs {
        override def pair(order: Long, delivery: Long, returned: Long): Unit =
          result
            .add(order)
            .add(delivery)
            .add(returned)
            .add(trade.orders.value(order, 2))
            .add(trade.deliveries.value(delivery, 2))
            .end()

        override def alone(order: Long, delivery: Long): Unit = ()
      }
    )

    private val first = new IntervalLoop(
      bucket = math.max(window, 1),
      new Pairs {
        override def pair(order: Long, unused: Long, delivery: Long): Unit = {
          val time = trade.deliveries.value(delivery, 2)
          val item = trade.deliveries.value(delivery, 1)
          // later rows of this join are no older than either input
          val watermark = math.min(orderWatermark, deliveryWatermark)
          second.left(item, time, time + window, order, delivery, watermark)
        }

        override def alone(order: Long, unused: Long): Unit = ()
      }
    )

    override def arrive(stream: Int, row: Long): Unit = {
      val input = streams(stream)
      val (id, item, time) = (input.value(row, 0), input.value(row, 1), input.value(row, 2))
      val watermark = time - input.lag
      stream match {
        case 0 =>
          orderWatermark = math.max(orderWatermark, watermark)
          first.left(item, time, time + window, id, 0, watermark)
        case 1 =>
          deliveryWatermark = math.max(deliveryWatermark, watermark)
          first.right(item, time, id, watermark)
        case _ => second.right(item, time, id, watermark)
      }
    }

    override def bufferedRows: Long = first.bufferedRows + second.bufferedRows
    override def bufferedBytes: Long = first.bufferedBytes + second.bufferedBytes
  }
}
