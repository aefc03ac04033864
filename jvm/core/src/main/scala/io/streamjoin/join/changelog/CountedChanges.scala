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
    stored: StoredRows[R],
    counters: ChangelogCounters,
    keeps: (Side, R) => Boolean,
    forgets: Side => Boolean,
    retracts: (Side, R) => Boolean
) extends RowChanges[R] {
  import CountedChanges._

  private val deleted = new ChangeBuffer[R]

  override def net(
      key: Long,
      changes: ChangeBuffer[R],
      from: Int,
      until: Int,
      into: KeyDelta[R]
  ): Int = {
    val side = into.side
    val row = changes(from)
    if (!keeps(side, row)) 0
    else {
      val inserts = countInserts(changes, from, until)
      val deletes = until - from - inserts
      val both = if (rows.agesByWrite(side)) 0 else math.min(inserts, deletes)
      deleted.clear()
      if (deletes > both) takeEqual(side, key, row, deletes - both)
      // of those that come, so many go again
      val passing = both + math.min(inserts - both, deletes - both - deleted.length)
      val again = math.min(deleted.length, inserts - passing)
      val unknown = deletes - passing - deleted.length
      if (unknown > 0) notStored(row, unknown, into)
      var i = 0
      while (i < deleted.length) {
        if (i < deleted.length - again) into.removed.add(deleted(i), deleted.isMarked(i))
        else stored.append(side, key, row, deleted.isMarked(i))
        i += 1
      }
      i = 0
      while (i < inserts - passing - again) {
        into.added.add(row, marked = false)
        i += 1
      }
      math.max(unknown, 0)
    }
  }

  /** Removals of so many equal rows that are not stored. */
  private def notStored(row: R, removals: Int, into: KeyDelta[R]): Unit = {
    val isExpired = retracts(into.side, row)
    counters.count(into.side, if (isExpired) RetractedExpired else Unknown, removals.toLong)
    if (isExpired) for (_ <- 0 until removals) into.expired.add(row, marked = false)
  }

  private def countInserts(changes: ChangeBuffer[R], from: Int, until: Int): Int = {
    var inserts = 0
    var i = from
    while (i < until) {
      if (changes.isMarked(i)) inserts += 1
      i += 1
    }
    inserts
  }

  /** Takes as many rows that are equal to this one, at most: those first that go first. */
  private def takeEqual(side: Side, key: Long, row: R, atMost: Int): Unit = {
    def isEqual(other: R) = rows.compare(side, other, row) == 0
    if (!rows.agesByWrite(side) && !forgets(side))
      stored.take(side, key, row, atMost, deleted)((other, _) => isEqual(other))
    else {
      val all = mutable.ArrayBuffer.empty[DeletionOrder]
      stored.take(side, key, row, 1, deleted) { (other, matched) =>
        if (isEqual(other)) all += deletionOrder(side, other, matched)
        false
      }
      val first = all.sorted.take(atMost)
      val open = mutable.HashMap.from(first.groupMapReduce(identity)(_ => 1)(_ + _))
      stored.take(side, key, row, first.length, deleted) { (other, matched) =>
        isEqual(other) && {
          val place = deletionOrder(side, other, matched)
          open.updateWith(place)(_.map(_ - 1).filter(_ >= 0)).nonEmpty
        }
      }
      inOrder(side)
    }
  }

  private def inOrder(side: Side): Unit = {
    val sorted = Vector.tabulate(deleted.length)(i => deleted(i) -> deleted.isMarked(i))
      .sortBy { case (row, matched) => deletionOrder(side, row, matched) }
    deleted.clear()
    for ((row, matched) <- sorted) deleted.add(row, matched)
  }

  private def deletionOrder(side: Side, row: R, matched: Boolean): DeletionOrder = {
    val limits = new Array[Long](rows.limitCount(side))
    rows.limits(side, row, limits)
    DeletionOrder(limits.toSeq, matched)
  }
}

private object CountedChanges {

  /**
   * By what equal rows differ: those that go first are the smallest.
   *
   * @param limits at which clocks it leaves
   */
  private final case class DeletionOrder(limits: Seq[Long], matched: Boolean)

  private val byLimits: Ordering[Seq[Long]] = scala.math.Ordering.Implicits.seqOrdering[Seq, Long]

  private implicit val first: Ordering[DeletionOrder] =
    Ordering.by[DeletionOrder, Seq[Long]](_.limits)(byLimits).orElseBy(_.matched)
}
