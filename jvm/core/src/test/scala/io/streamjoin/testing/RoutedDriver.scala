package io.streamjoin.testing

import io.streamjoin.bounds.{RowBounds, RowTimes}
import io.streamjoin.join.Counters
import io.streamjoin.join.eventtime.{EventTimeJoin, JoinRows, JoinStats, KeyLoad, TaskLoad}
import io.streamjoin.model.{JoinType, Side, Watermarks}
import io.streamjoin.placement.{Placement, ReachBuckets, Routing}

/**
 * A join over several partitions. The routing places the rows. With a routing without keys, the
 * equality is tested on each pair.
 *
 * @param first the initial routing
 * @param places the partition of each key
 * @param hash the hash of a key that is not NULL
 */
final class RoutedDriver(
    join: TestJoin,
    joinType: JoinType,
    partitions: Int,
    first: Routing,
    places: Long => Int = _ => 0,
    hash: Long => Long = identity
) {

  /** The routing of the rows of the next batch. */
  var routing: Routing = first

  private val counters = Seq.fill(partitions)(new Counters)
  private val states = Seq.fill(partitions)(new HeapJoinState[TestRow](identity))
  private var loads = Seq.fill(partitions)(KeyLoad.empty)
  private var received = Array.fill(join.columns.length)(Watermarks.Unknown)

  private val bounds = Side.both.map(s => s -> new RowBounds(join.bounds, s)).toMap
  private val times = new RowTimes(join.columns.length)

  private def rows: JoinRows[TestRow] = routing match {
    case Routing.ByKey | _: Routing.ByKeyAndTime => keyed
    case _                                       => keyless
  }

  private def operator(p: Int) = {
    val operator = new EventTimeJoin[TestRow, Emitted](
      joinType,
      join.bounds,
      rows,
      join.output,
      states(p),
      JoinStats(counters(p), load = Some(loads(p))),
      Placement(routing, p, partitions)
    )
    operator.restore(received)
    operator
  }

  /** The owner of a row, and the partition of its replica, if any. */
  private def placed(routing: Routing.ByBuckets, row: TestRow, home: Int): Seq[Int] = {
    join.rows.readTimes(row.side, row, times)
    if (!bounds(row.side).hasProbeTime(times)) Seq(home)
    else {
      val (key, time) = (rows.key(row.side, row), bounds(row.side).probeTime(times))
      val owner = routing.owner(row.side, key, time, partitions, home)
      val replica = routing.replica(row.side, key, time, partitions, home)
      (if (owner == ReachBuckets.NoPartition) home else owner) +:
        Seq(replica).filter(_ != ReachBuckets.NoPartition)
    }
  }

  /** @param home the partition of a row without a time bucket: that of its key, or any */
  def batch(rows: Seq[TestRow], home: TestRow => Int, watermarks: Array[Long]): Seq[Emitted] = {
    loads = loads.map(load => new KeyLoad(load.latest))
    val emitted = (0 until partitions).flatMap { p =>
      val task = operator(p)
      def send(row: TestRow, keepFor: Array[Long]): Seq[Emitted] = routing match {
        case Routing.Broadcast(unicast) if row.side == unicast && home(row) != p        => Nil
        case Routing.ByKey if home(row) != p                                            => Nil
        case buckets: Routing.ByBuckets if !placed(buckets, row, home(row)).contains(p) => Nil
        case _ => task.process(row.side, row, keepFor).toList
      }
      val (left, right) = rows.partition(_.side == Side.Left)
      left.flatMap(send(_, received)) ++ right.flatMap(send(_, watermarks)) ++
        task.advance(watermarks).toList
    }
    received = received.zip(watermarks).map { case (a, b) => math.max(a, b) }
    emitted
  }

  /** The key loads that the tasks of the last batch report. */
  def reported: Seq[TaskLoad] =
    loads.zipWithIndex.map { case (l, p) => TaskLoad(p, l.seen, l.heaviest, l.span, l.latest) }

  /** The sum of a counter over all partitions. */
  def counted(of: Counters => Long): Long = counters.map(of).sum

  /** The number of rows buffered in all partitions. */
  def buffered(side: Side): Long = states.map(_.size(side)).sum

  /** The number of partitions that buffer rows. */
  def filled: Int = states.count(state => Side.both.exists(state.size(_) > 0))

  private abstract class Rows extends JoinRows[TestRow] {
    override def readTimes(side: Side, row: TestRow, into: RowTimes): Unit =
      join.rows.readTimes(side, row, into)

    override def joinable(side: Side, row: TestRow): Boolean = join.rows.joinable(side, row)

    override def partition(side: Side, row: TestRow, partitions: Int): Int =
      row.key.fold(0)(places)

    override def matches(left: TestRow, right: TestRow, ordinary: Boolean): Boolean =
      join.matches(left, right)
  }

  private object keyless extends Rows {
    override def key(side: Side, row: TestRow): Long = Routing.NoKey
  }

  private object keyed extends Rows {
    override def key(side: Side, row: TestRow): Long =
      row.key.fold(join.rows.key(side, row))(hash)
  }
}
