package io.streamjoin.testing

import scala.collection.mutable

import io.streamjoin.bounds.TimeBound
import io.streamjoin.model.{JoinType, Side}

/**
 * The contract of a join by brute force: the required output and buffered rows, given all rows that
 * were not late on arrival.
 */
final class Reference(join: TestJoin, joinType: JoinType) {

  private val received = mutable.Map.empty[Int, Long]
  private val arrived = mutable.ArrayBuffer.empty[TestRow]
  private val found = mutable.ArrayBuffer.empty[(TestRow, TestRow)]
  private val hopeless = mutable.Set.empty[TestRow]
  private val hopeful = mutable.Set.empty[TestRow]
  private var late = 0

  /** Records an event. */
  def see(event: Given): Unit = event match {
    case row: TestRow =>
      if (isLate(row)) late += 1
      else {
        found ++= of(row.side.other).flatMap(pair(row, _))
        arrived += row
      }
    case Wm(column, value) =>
      hopeful.clear()
      received(column) = math.max(value, received.getOrElse(column, Long.MinValue))
  }

  def lateRows: Int = late

  private def isLate(row: TestRow): Boolean =
    row.times.exists { case (c, t) => received.get(c).exists(t < _) }

  private def of(side: Side): Seq[TestRow] = arrived.filter(_.side == side).toSeq

  private def pair(row: TestRow, other: TestRow): Option[(TestRow, TestRow)] = {
    val (l, r) = if (row.side == Side.Left) (row, other) else (other, row)
    Option.when(join.matches(l, r))((l, r))
  }

  /** The output once every buffered row is evicted. */
  def finalOutput: Seq[Emitted] = output(_ => true)

  /** The output so far: each match at once, each unmatched row as soon as it can match nothing. */
  def outputSoFar: Seq[Emitted] = output(!canMatch(_))

  private def output(settled: TestRow => Boolean): Seq[Emitted] = {
    val matched = found.flatMap { case (l, r) => Seq(l, r) }.toSet
    val joined = joinType match {
      case JoinType.LeftAnti => Nil
      case JoinType.LeftSemi => of(Side.Left).filter(matched).map(Matched(_))
      case _                 => found.map { case (l, r) => Joined(l, r) }.toSeq
    }
    val alone = Side.both
      .filter(joinType.preserves)
      .flatMap(of)
      .filter(row => !matched(row) && settled(row))
    joined ++ alone.map(Unmatched(_))
  }

  /** Whether a row has matched another. */
  def isJoined(row: TestRow): Boolean = found.exists { case (l, r) => l == row || r == row }

  /** The rows that must be buffered now: exactly those that can affect the result. */
  def buffer(side: Side): Seq[TestRow] = {
    val decided: Set[TestRow] =
      if (joinType.leftOnly && side == Side.Left) found.map(_._1).toSet else Set.empty
    of(side).filter(row => !decided(row) && canMatch(row))
  }

  /**
   * Whether a future row of the other side can match. It depends on the received watermarks only,
   * and never changes from false to true.
   */
  private def canMatch(row: TestRow): Boolean = {
    if (!hopeless(row) && !hopeful(row)) (if (partnerExists(row)) hopeful else hopeless) += row
    hopeful(row)
  }

  private def partnerExists(row: TestRow): Boolean =
    row.joinable && row.key.nonEmpty && new Partners(join, row, received.toMap).exist
}

/** Tries every row of the other side on the grid that is not late and satisfies the facts. */
private final class Partners(join: TestJoin, row: TestRow, received: Map[Int, Long]) {

  private val times = new Array[Long](join.columns.length)
  private val present = new Array[Boolean](join.columns.length)
  for ((c, t) <- row.times) set(c, t)

  private val open = join.bounds.indices(row.side.other)
  private val constrained = join.conjuncts.flatMap(b => Seq(b.later, b.earlier)).toSet

  /** The columns to choose times for, the columns of the condition first. */
  private val order = open.sortBy(c => (!constrained(c), c)).toArray

  /** For each position in the order, the bounds that can be checked once it has a time. */
  private val demands = (0 to order.length).map(settledAt(join.conjuncts, _)).toArray
  private val promises = (0 to order.length).map(settledAt(join.facts, _)).toArray

  private def settledAt(bounds: Seq[TimeBound], place: Int): Array[TimeBound] = {
    def placeOf(c: Int) = order.indexOf(c) + 1
    bounds.filter(b => math.max(placeOf(b.later), placeOf(b.earlier)) == place).toArray
  }

  def exist: Boolean = holds(0) && search(0)

  private def search(place: Int): Boolean = place == order.length || {
    val c = order(place)
    val lowest = received.getOrElse(c, Long.MinValue)
    Reference.grid.exists { t =>
      t >= lowest && {
        set(c, t.toLong)
        holds(place + 1) && search(place + 1)
      }
    } || (join.columns(c).nullable && {
      present(c) = false
      holds(place + 1) && search(place + 1)
    })
  }

  private def set(c: Int, t: Long): Unit = {
    times(c) = t
    present(c) = true
  }

  private def holds(place: Int): Boolean =
    demands(place).forall(b => bothPresent(b) && inOrder(b)) &&
      promises(place).forall(b => !bothPresent(b) || inOrder(b))

  private def bothPresent(b: TimeBound) = present(b.later) && present(b.earlier)
  private def inOrder(b: TimeBound) = times(b.later) >= times(b.earlier) - b.slack
}

object Reference {

  /** A watermark above every time in the tests. */
  val endOfTime = 1000

  /** All times that a future row can have, wide enough for the times and slacks of the tests. */
  val grid: Array[Int] = ((-25 to 40) ++ (endOfTime to endOfTime + 8)).toArray
}
