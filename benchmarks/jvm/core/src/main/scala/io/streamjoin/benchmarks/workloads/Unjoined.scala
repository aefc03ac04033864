package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.Loop

/**
 * The inputs of [[Deliveries]] without their join: what an engine costs that does nothing to rows.
 *
 *   - `part`: `shuffled`, both inputs by item; `union`, both as they come; `one`, the orders alone
 */
final class Unjoined(name: String, asked: Parameters)
    extends Workload(name, Deliveries.defaults(asked)) {
  private val trade = new Trade(parameters, timed = false)
  private val part = parameters.text("part")

  override val streams: IndexedSeq[RowStream] =
    if (part == "one") IndexedSeq(trade.orders) else IndexedSeq(trade.orders, trade.deliveries)

  override def isChangelog: Boolean = false

  override def query(dialect: Dialect): String = {
    val shuffled = if (part == "shuffled") "DISTRIBUTE BY item" else ""
    streams
      .map(input => s"SELECT id, item FROM (SELECT id, item FROM ${input.name} $shuffled)")
      .mkString(" UNION ALL ")
  }

  override def loop(result: Checksum): Loop = new Loop {
    override def arrive(stream: Int, row: Long): Unit = {
      val input = streams(stream)
      result.add(input.value(row, 0)).add(input.value(row, 1)).end()
    }

    override def bufferedRows: Long = 0
    override def bufferedBytes: Long = 0
  }
}
