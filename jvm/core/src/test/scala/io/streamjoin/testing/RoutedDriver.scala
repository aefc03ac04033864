package io.streamjoin.testing

import io.streamjoin.bounds.RowTimes
import io.streamjoin.join.eventtime.{EventTimeJoin, JoinCounters, JoinRows}
import io.streamjoin.model.{JoinType, Routing, Side}

/**
 * A join without an equality over several partitions. Rows go where the routing sends them; what the
 * condition says of keys is tested on each pair.
 */
final class RoutedDriver(join: TestJoin, joinType: JoinType, partitions: Int) {

  private val routing = Routing.of(joinType, hasEquality = false)

  private val counters = Seq.fill(partitions)(new JoinCounters)
  private val states = Seq.fill(partitions)(new HeapJoinState[TestRow](identity))

  private val operators = states.zip(counters).map { case (state, counters) =>
    new EventTimeJoin[TestRow, Emitted](
      joinType,
      join.bounds,
      keyless,
      join.output,
      state,
      counters,
      routing
    )
  }

  /** @param home the partition of a row that goes to one only, or that answers for it */
  def batch(rows: Seq[TestRow], home: TestRow => Int, watermarks: Array[Long]): Seq[Emitted] =
    operators.indices.flatMap { p =>
      def send(row: TestRow, keepFor: Array[Long]): Seq[Emitted] = routing match {
        case Routing.Broadcast(unicast) if row.side == unicast && home(row) != p => Nil
        case Routing.Shared =>
          operators(p).process(row.side, row, keepFor, guest = home(row) != p).toList
        case _ => operators(p).process(row.side, row, keepFor).toList
      }
      val (left, right) = rows.partition(_.side == Side.Left)
      left.flatMap(send(_, operators(p).received)) ++ right.flatMap(send(_, watermarks)) ++
        operators(p).advance(watermarks).toList
    }

  /** How many rows all partitions together hold. */
  def buffered(side: Side): Long = states.map(_.size(side)).sum

  private object keyless extends JoinRows[TestRow] {
    override def readTimes(side: Side, row: TestRow, into: RowTimes): Unit =
      join.rows.readTimes(side, row, into)

    override def joinable(side: Side, row: TestRow): Boolean = join.rows.joinable(side, row)

    override def key(side: Side, row: TestRow): Long = Routing.NoKey

    override def matches(left: TestRow, right: TestRow, ordinary: Boolean): Boolean =
      join.matches(left, right)
  }
}
