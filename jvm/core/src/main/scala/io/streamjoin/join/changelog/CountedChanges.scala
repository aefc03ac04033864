package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.model.Side

import ChangelogCounters.{RetractedExpired, Unknown}

/**
 * Nets the changes of rows that are equal and have no unique key.
 *
 * {{{
 *   how often it came, less how often it went
 *     more  -> so many are added
 *     fewer -> so many of those held are removed; those that are not held may have expired
 * }}}
 *
 * Where equal rows may leave at different times, that one goes that would leave first, and of those that leave
 * together one that has lost no partner by age. A row that goes and comes in one batch is as old as its last
 * write. So which rows are held does not depend on how their changes were cut into batches, nor on the order
 * in which a state shows them.
 *
 * Rule R30 of `docs/internals/rules.md`.
 *
 * @param forgets whether a side's rows note that a partner of them has left by its age
 * @param retracts whether the removal of a row that is not held is that of an expired one
 */
private[changelog] final class CountedChanges[R](
    rows: ChangelogRows[R],
    held: HeldRows[R],
    counters: ChangelogCounters,
    keeps: (Side, R) => Boolean,
    forgets: Side => Boolean,
    retracts: (Side, R) => Boolean
) extends RowChanges[R] {
  import CountedChanges._

  private val gone = new MarkedRows[R]

  override def net(
      key: Long,
      changes: MarkedRows[R],
      from: Int,
      until: Int,
      into: Moving[R]
  ): Int = {
    val side = into.side
    val row = changes(from)
    if (!keeps(side, row)) 0
    else {
      val come = cameOf(changes, from, until)
      val go = until - from - come
      val both = if (rows.agesByWrite(side)) 0 else math.min(come, go)
      gone.clear()
      if (go > both) takeEqual(side, key, row, go - both)
      // of those that come, so many go again
      val passing = both + math.min(come - both, go - both - gone.length)
      val again = math.min(gone.length, come - passing)
      val unknown = go - passing - gone.length
      if (unknown > 0) notHeld(row, unknown, into)
      var i = 0
      while (i < gone.length) {
        if (i < gone.length - again) into.removed.add(gone(i), gone.isMarked(i))
        else held.append(side, key, row, gone.isMarked(i))
        i += 1
      }
      i = 0
      while (i < come - passing - again) {
        into.added.add(row, marked = false)
        i += 1
      }
      math.max(unknown, 0)
    }
  }

  /** Removals of so many equal rows that are not held. */
  private def notHeld(row: R, removals: Int, into: Moving[R]): Unit = {
    val isExpired = retracts(into.side, row)
    counters.count(into.side, if (isExpired) RetractedExpired else Unknown, removals.toLong)
    if (isExpired) for (_ <- 0 until removals) into.expired.add(row, marked = false)
  }

  private def cameOf(changes: MarkedRows[R], from: Int, until: Int): Int = {
    var come = 0
    var i = from
    while (i < until) {
      if (changes.isMarked(i)) come += 1
      i += 1
    }
    come
  }

  /** Takes as many rows that are equal to this one, at most: those first that go first. */
  private def takeEqual(side: Side, key: Long, row: R, atMost: Int): Unit = {
    def isEqual(other: R) = rows.compare(side, other, row) == 0
    if (!rows.agesByWrite(side) && !forgets(side))
      held.take(side, key, row, atMost, gone)((other, _) => isEqual(other))
    else {
      val all = mutable.ArrayBuffer.empty[Going]
      held.take(side, key, row, 1, gone) { (other, matched) =>
        if (isEqual(other)) all += going(side, other, matched)
        false
      }
      val first = all.sorted.take(atMost)
      val open = mutable.HashMap.from(first.groupMapReduce(identity)(_ => 1)(_ + _))
      held.take(side, key, row, first.length, gone) { (other, matched) =>
        isEqual(other) && {
          val place = going(side, other, matched)
          open.updateWith(place)(_.map(_ - 1).filter(_ >= 0)).nonEmpty
        }
      }
      inOrder(side)
    }
  }

  private def inOrder(side: Side): Unit = {
    val sorted = Vector.tabulate(gone.length)(i => gone(i) -> gone.isMarked(i))
      .sortBy { case (row, matched) => going(side, row, matched) }
    gone.clear()
    for ((row, matched) <- sorted) gone.add(row, matched)
  }

  private def going(side: Side, row: R, matched: Boolean): Going = {
    val limits = new Array[Long](rows.limitCount(side))
    rows.limits(side, row, limits)
    Going(limits.toSeq, matched)
  }
}

private object CountedChanges {

  /**
   * By what equal rows differ: those that go first are the smallest.
   *
   * @param limits at which clocks it leaves
   */
  private final case class Going(limits: Seq[Long], matched: Boolean)

  private val byLimits: Ordering[Seq[Long]] = scala.math.Ordering.Implicits.seqOrdering[Seq, Long]

  private implicit val first: Ordering[Going] =
    Ordering.by[Going, Seq[Long]](_.limits)(byLimits).orElseBy(_.matched)
}
