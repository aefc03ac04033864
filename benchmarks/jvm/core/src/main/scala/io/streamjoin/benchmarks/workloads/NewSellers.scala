package io.streamjoin.benchmarks.workloads

import io.streamjoin.benchmarks._
import io.streamjoin.benchmarks.limit.{IntervalLoop, Loop, Pairs}

/** The join in Nexmark's q8: persons and their auctions in the same tumbling window. */
final class NewSellers(name: String, asked: Parameters)
    extends Workload(name, Auctions.defaults(asked)) {
  import Auctions.Slot

  private val nexmark = new Auctions(parameters)
  private val (persons, auctions) = (nexmark.slottedPersons, nexmark.auctions)

  override val streams: IndexedSeq[RowStream] = IndexedSeq(persons, auctions)

  /** Equal windows bound the times; no engine here concludes that from a computed window. */
  override def query(dialect: Dialect): String =
    s"""SELECT p.id, a.id
       |FROM persons p JOIN auctions a
       |  ON p.id = a.seller AND p.slot = a.slot
       | AND a.ts BETWEEN p.ts - ${Workload.interval(Slot)} AND p.ts + ${Workload.interval(Slot)}
       |""".stripMargin

  override def loop(result: Checksum): Loop = new Loop {
    private val join = new IntervalLoop(
      bucket = Slot,
      new Pairs {
        override def pair(person: Long, unused: Long, auction: Long): Unit =
          result.add(person).add(auction).end()

        override def alone(person: Long, unused: Long): Unit = ()
      },
      slack = Slot
    )

    override def arrive(stream: Int, row: Long): Unit = {
      val input = streams(stream)
      val time = input.value(row, 1)
      if (stream == 0) {
        val begin = Math.floorDiv(time, Slot) * Slot
        join.left(
          input.value(row, 0),
          begin,
          begin + Slot - 1,
          input.value(row, 0),
          0,
          time - input.lag
        )
      } else
        join.right(input.value(row, 3), time, input.value(row, 0), time - input.lag)
    }

    override def bufferedRows: Long = join.bufferedRows
    override def bufferedBytes: Long = join.bufferedBytes
  }
}
