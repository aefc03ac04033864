package io.streamjoin.benchmarks.workloads

import scala.collection.mutable

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.Loop

/**
 * Nexmark's q7: the bids that have the highest price of their tumbling window.
 *
 *   - `whole`: yes to select the columns of the original, which also takes a bid at the end of the window
 */
final class HighestBid(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked)) {
  import Auctions.Slot

  private val bids = new Auctions(parameters).bids
  private val whole = Auctions.isWhole(parameters)

  private val selection = new Selection("b" -> bids)(
    (if (whole) Seq("auction", "bidder", "price", "ts", "extra")
     else Seq("id", "auction", "price")).map(c => s"b.$c"): _*
  )

  override val streams: IndexedSeq[RowStream] = IndexedSeq(bids)

  override def query(dialect: Dialect): String =
    s"""SELECT ${selection.sql}
       |FROM bids b JOIN (${highest(dialect)}) m
       |  ON b.price = m.highest
       | AND b.ts > m.closed - ${Workload.interval(Slot)} AND b.ts <= $until
       |""".stripMargin

  /** The time of a window is a moment before its end, in Flink a millisecond. */
  private def until: String =
    if (whole) s"m.closed + ${Workload.interval(1)}" else "m.closed"

  override def aggregates: Boolean = true

  private def highest(dialect: Dialect): String = dialect match {
    case Dialect.Spark      => highestInSpark
    case Dialect.StreamJoin =>
      // windows are emitted in order, many in one batch
      s"""SELECT *
         |FROM IMPOSE_ORDER(TABLE($highestInSpark), DESCRIPTOR(closed), INTERVAL '0' SECOND)
         |""".stripMargin
    case Dialect.Flink =>
      s"""SELECT window_time AS closed, MAX(price) AS highest
         |FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), ${Workload.interval(Slot)}))
         |GROUP BY window_start, window_end, window_time""".stripMargin
    case Dialect.Hazelcast =>
      s"""SELECT window_end - INTERVAL '0.001' SECOND AS closed, MAX(price) AS highest
         |FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), ${Workload.interval(Slot)}))
         |GROUP BY window_end""".stripMargin
  }

  private def highestInSpark: String =
    s"""SELECT window_time(w) AS closed, highest
       |FROM (SELECT window(ts, '$Slot milliseconds') AS w, MAX(price) AS highest
       |      FROM bids GROUP BY window(ts, '$Slot milliseconds'))""".stripMargin

  override def loop(result: Checksum): Loop = new Loop {
    private val open = mutable.LongMap.empty[mutable.ArrayBuffer[Long]]
    private var rows = 0L
    private var watermark = Long.MinValue

    override def arrive(stream: Int, row: Long): Unit = {
      val time = bids.value(row, 1)
      open.getOrElseUpdate(Math.floorDiv(time, Slot), mutable.ArrayBuffer.empty) += row
      rows += 1
      val before = Math.floorDiv(watermark, Slot)
      watermark = math.max(watermark, time - bids.lag)
      if (Math.floorDiv(watermark, Slot) > before)
        open.keys.filter(slot => (slot + 1) * Slot <= watermark).toSeq.sorted.foreach(close)
    }

    private def close(slot: Long): Unit = {
      val members = open.remove(slot).get
      val highest = members.iterator.map(bids.value(_, 3)).max
      val next = open.get(slot + 1).filter(_ => whole)
      val atEnd = next.toSeq.flatten.filter(bids.value(_, 1) == (slot + 1) * Slot)
      for (row <- members ++ atEnd if bids.value(row, 3) == highest) selection.add(result, row)
      rows -= members.length
    }

    override def bufferedRows: Long = rows
    override def bufferedBytes: Long = rows * 8
  }
}
