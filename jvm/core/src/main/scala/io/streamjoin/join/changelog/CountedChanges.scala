package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.join.Count.{Expired, Unknown}
import io.streamjoin.join.Counters
import io.streamjoin.model.{JoinType, Side}

/**
 * Consolidates the changes of rows without a unique key: equal rows are counted.
 *
 * {{{
 *   inserts minus deletes
 *     positive -> as many rows are inserted
 *     negative -> as many stored rows are deleted; those that are not stored may have expired, see
 *                 [[KeyDelta.expired]]
 * }}}
 *
 * If equal rows may expire at different times, a delete removes the one that would expire
 * first, and of rows that expire together one that is not marked. A row that is deleted
 * and inserted in one batch has the age of its last write. So the stored rows do not depend on
 * how changes were cut into batches, nor on the order of the state.
 *
 * Rule R30 of `docs/internals/rules.md`.
 *
 * @param marks whether rows of the side may be marked
 */
private[changelog] final class CountedChanges[R](
    side: Side,
    joinType: JoinType,
    rows: InputRows[R],
    stored: StoredRows[R],
    counters: Counters,
    marks: Boolean
) extends NetChanges[R](side, joinType, rows, counters) {
  import CountedChanges._

  private val deleted = new ChangeBuffer[R]

  override protected def net(
      key: Long,
      changes: ChangeBuffer[R],
      from: Int,
      until: Int,
      into: KeyDelta[R]
  ): Int = {
    val row = changes(from)
    val inserts = countInserts(changes, from, until)
    if (keeps(row)) keep(key, row, inserts, until - from - inserts, into)
    else if (rows.expired(row)) {
      counters.count(side, Expired, inserts.toLong)
      inserts
    } else 0
  }

  private def keep(key: Long, row: R, inserts: Int, deletes: Int, into: KeyDelta[R]): Int = {
    val both = if (rows.agesByWrite) 0 else math.min(inserts, deletes)
    deleted.clear()
    if (deletes > both) takeEqual(key, row, deletes - both)
    // some of the inserted rows are deleted again
    val passing = both + math.min(inserts - both, deletes - both - deleted.length)
    val again = math.min(deleted.length, inserts - passing)
    val unknown = deletes - passing - deleted.length
    if (unknown > 0) {
      if (retracts(row)) for (_ <- 0 until unknown) into.expired.add(row, marked = false)
      else counters.count(side, Unknown, unknown.toLong)
    }
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

  private def countInserts(changes: ChangeBuffer[R], from: Int, until: Int): Int = {
    var inserts = 0
    var i = from
    while (i < until) {
      if (changes.isMarked(i)) inserts += 1
      i += 1
    }
    inserts
  }

  /** Removes up to this many rows that are equal to this one: those first that expire first. */
  private def takeEqual(key: Long, row: R, atMost: Int): Unit = {
    def isEqual(other: R) = rows.compare(other, row) == 0
    if (!rows.agesByWrite && !marks)
      stored.take(side, key, row, atMost, deleted)((other, _) => isEqual(other))
    else {
      val all = mutable.ArrayBuffer.empty[DeletionOrder]
      stored.take(side, key, row, 1, deleted) { (other, matched) =>
        if (isEqual(other)) all += deletionOrder(other, matched)
        false
      }
      val first = all.sorted.take(atMost)
      val open = mutable.HashMap.from(first.groupMapReduce(identity)(_ => 1)(_ + _))
      stored.take(side, key, row, first.length, deleted) { (other, matched) =>
        isEqual(other) && {
          val place = deletionOrder(other, matched)
          open.updateWith(place)(_.map(_ - 1).filter(_ >= 0)).nonEmpty
        }
      }
      sortDeleted()
    }
  }

  private def sortDeleted(): Unit = {
    val sorted = Vector.tabulate(deleted.length)(i => deleted(i) -> deleted.isMarked(i))
      .sortBy { case (row, matched) => deletionOrder(row, matched) }
    deleted.clear()
    for ((row, matched) <- sorted) deleted.add(row, matched)
  }

  private def deletionOrder(row: R, matched: Boolean): DeletionOrder = {
    val limits = new Array[Long](rows.limitCount)
    rows.limits(row, limits)
    DeletionOrder(limits.toSeq, matched)
  }
}

private object CountedChanges {

  /**
   * The order of equal rows: the first to expire is the smallest.
   *
   * @param limits the clocks beyond which it expires
   */
  private final case class DeletionOrder(limits: Seq[Long], matched: Boolean)

  private val byLimits: Ordering[Seq[Long]] = scala.math.Ordering.Implicits.seqOrdering[Seq, Long]

  private implicit val first: Ordering[DeletionOrder] =
    Ordering.by[DeletionOrder, Seq[Long]](_.limits)(byLimits).orElseBy(_.matched)
}
