package io.streamjoin.join.asof

import scala.collection.mutable

import io.streamjoin.bounds.Saturated
import io.streamjoin.join.{Counters, Disorder, JoinOutput}
import io.streamjoin.model.{BySide, JoinType, Side, Watermarks}
import io.streamjoin.state.JoinState
import io.streamjoin.testing.{Emitted, Joined, Matched, TestRow, Unmatched}

/**
 * One partition of an as-of join, run batch by batch as the tasks of a query do.
 *
 * @param also the condition on a pair besides key, reach and tolerance
 * @param ends whether a build row ends the previous ones
 * @param begins the initial watermarks
 */
final class AsOfDriver(
    joinType: JoinType,
    val bounds: AsOfBounds,
    state: JoinState[TestRow],
    also: (TestRow, TestRow) => Boolean = (_, _) => true,
    ends: TestRow => Boolean = _ => false,
    begins: Side => Long = BySide.of(_ => Watermarks.Unknown)
) {
  val counters = new Counters

  /** Of the left column and of the right one, both with a lag of 0. */
  val disorder = new Disorder(2, Map(0 -> 0L, 1 -> 0L))
  private var received: Side => Long = begins

  /** The limit of the last batch. */
  def limit: Long = bounds.limit(received)

  def batch(rows: Seq[TestRow], watermarks: Side => Long): Seq[Emitted] = {
    val operator =
      new AsOfJoin[TestRow, Emitted](
        joinType,
        bounds,
        Rows,
        Output,
        state,
        counters,
        disorder,
        BySide(0, 1)
      )
    val next = BySide.of(side => math.max(received(side), watermarks(side)))
    operator.begin(received, next)
    received = next
    val due = BySide.of(_ => mutable.ArrayBuffer.empty[TestRow])
    val undue = rows.flatMap(row => operator.arrive(row.side, row)(due(row.side) += _))
    Side.both.foreach(side => operator.release(side).foreach(due(side) += _))
    undue ++ operator.join(side => due(side).sortWith(operator.compare(side, _, _) < 0).iterator)
  }

  /** The expected output for a probe row, given all build rows that are not late. */
  def expected(row: TestRow, builds: Seq[TestRow]): Seq[Emitted] = {
    def time(r: TestRow) = r.times.head._2
    val last =
      if (row.times.isEmpty || row.key.isEmpty || !row.joinable) Nil
      else
        valid(
          builds
            .filter(b => b.times.nonEmpty && b.joinable && b.key == row.key)
            .filter(b => time(b) <= Saturated.add(time(row), bounds.reach))
        ).filter(b => pairs(row, b))
    val found = last.map(b => if (bounds.probe == Side.Left) Joined(row, b) else Joined(b, row))
    if (last.isEmpty) Seq(Unmatched(row)).filter(_ => joinType.preserves(bounds.probe))
    else if (joinType == JoinType.LeftSemi) Seq(Matched(row))
    else if (joinType == JoinType.LeftAnti) Nil
    else found
  }

  /** The last build rows of one key, without those that a later row ends. */
  def valid(builds: Seq[TestRow]): Seq[TestRow] =
    builds
      .sortBy(b => (b.times.head._2, b.name))
      .takeRight(bounds.count)
      .reverse.takeWhile(b => !ends(b)).reverse

  private def pairs(probe: TestRow, build: TestRow): Boolean =
    bounds.tolerance.forall(t => build.times.head._2 >= probe.times.head._2 - t) &&
      also(probe, build)

  private object Rows extends AsOfRows[TestRow] {
    override def isTimeless(side: Side, row: TestRow): Boolean = row.times.isEmpty
    override def time(side: Side, row: TestRow): Long = row.times.head._2
    override def joinable(side: Side, row: TestRow): Boolean = row.joinable && row.key.nonEmpty
    // keys that share a hash
    override def key(side: Side, row: TestRow): Long = row.key.get % 3 - 1
    override def sameKey(one: TestRow, other: TestRow): Boolean = one.key == other.key
    override def hasKeyOf(probe: TestRow, build: TestRow): Boolean = probe.key == build.key
    override def ends(build: TestRow): Boolean = AsOfDriver.this.ends(build)
    override def compareTied(side: Side, one: TestRow, other: TestRow): Int =
      one.name.compareTo(other.name)
    override def matches(left: TestRow, right: TestRow): Boolean =
      if (bounds.probe == Side.Left) pairs(left, right) else pairs(right, left)
    override def copy(row: TestRow): TestRow = row
  }

  private object Output extends JoinOutput[TestRow, Emitted] {
    override def joined(left: TestRow, right: TestRow): Emitted = Joined(left, right)
    override def unmatched(side: Side, row: TestRow): Emitted = Unmatched(row)
    override def matched(left: TestRow): Emitted = Matched(left)
  }
}
