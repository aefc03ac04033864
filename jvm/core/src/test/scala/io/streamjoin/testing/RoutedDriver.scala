package io.streamjoin.testing

import io.streamjoin.bounds.{RowBounds, RowTimes}
import io.streamjoin.join.eventtime.{EventTimeJoin, JoinCounters, JoinRows}
import io.streamjoin.model.{JoinType, Routing, Side}

/**
 * A join without an equality over several partitions. Rows go where the routing sends them; what the
 * condition says of keys is tested on each pair.
 */
final class RoutedDriver(
    join: TestJoin,
    joinType: JoinType,
    partitions: Int,
    val routing: Routing
) {

  private val counters = Seq.fill(partitions)(new JoinCounters)
  private val states = Seq.fill(partitions)(new HeapJoinState[TestRow](identity))

  private val operators = states.zip(counters).zipWithIndex.map { case ((state, counters), p) =>
    new EventTimeJoin[TestRow, Emitted](
      joinType,
      join.bounds,
      keyless,
      join.output,
      state,
      counters,
      routing,
      partition = p,
      partitions = partitions
    )
  }

  private val bounds = Side.both.map(s => s -> new RowBounds(join.bounds, s)).toMap
  private val times = new RowTimes(join.columns.length)

  /** Where a row goes, and where it is a guest, if anywhere. */
  private def placed(routing: Routing.ByTime, row: TestRow, home: Int): Seq[Int] = {
    join.rows.readTimes(row.side, row, times)
    if (!bounds(row.side).hasProbeTime(times)) Seq(home)
    else {
      val time = bounds(row.side).probeTime(times)
      val guestIn = routing.guestIn(row.side, time, partitions)
      routing.buckets.homeIn(row.side, time, partitions) +: Seq(guestIn).filter(_ >= 0)
    }
  }

  /** @param home the partition of a row that goes to one only, and to any */
  def batch(rows: Seq[TestRow], home: TestRow => Int, watermarks: Array[Long]): Seq[Emitted] =
    operators.indices.flatMap { p =>
      def send(row: TestRow, keepFor: Array[Long]): Seq[Emitted] = routing match {
        case Routing.Broadcast(unicast) if row.side == unicast && home(row) != p   => Nil
        case byTime: Routing.ByTime if !placed(byTime, row, home(row)).contains(p) => Nil
        case _ => operators(p).process(row.side, row, keepFor).toList
      }
      val (left, right) = rows.partition(_.side == Side.Left)
      left.flatMap(send(_, operators(p).received)) ++ right.flatMap(send(_, watermarks)) ++
        operators(p).advance(watermarks).toList
    }

  /** What all partitions together have counted. */
  def counted(of: JoinCounters => Long): Long = counters.map(of).sum

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
