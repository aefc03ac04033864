package io.streamjoin.join.changelog

import java.util.Comparator

import io.streamjoin.join.Count.{Cancelled, Deleted, Late}
import io.streamjoin.join.Counters
import io.streamjoin.model.{BySide, Side}

/**
 * Consolidates the changes of a batch by row identity, and deletes rows from the state. The
 * order in which changes arrive does not matter. See [[KeyedChanges]] for rows with a unique
 * key, and [[CountedChanges]] for others.
 *
 * @param keeps whether a row of a side is needed
 * @param forgets whether rows of a side are marked when a partner has expired
 * @param retracts whether a delete of a row that is not stored is the delete of an expired row
 */
private[changelog] final class NetChanges[R](
    rows: ChangelogRows[R],
    stored: StoredRows[R],
    counters: Counters,
    keeps: (Side, R) => Boolean,
    forgets: Side => Boolean,
    retracts: (Side, R) => Boolean
) {
  private val byIdentity =
    BySide.of[Comparator[R]](side => (a, b) => rows(side).compareIdentity(a, b))
  private val ofRow = BySide.of[RowChanges[R]] { side =>
    if (rows(side).keyed) new KeyedChanges[R](rows, stored, counters, keeps, retracts)
    else new CountedChanges[R](rows, stored, counters, keeps, forgets, retracts)
  }

  /** @param changes of one join key, marked for inserts; the buffer may be reused afterwards */
  def of(key: Long, changes: ChangeBuffer[R], into: KeyDelta[R]): Unit = if (!changes.isEmpty) {
    val side = into.side
    withoutLate(side, changes)
    changes.sort(0, changes.length, byIdentity(side))
    val row = ofRow(side)
    var others = 0
    var from = 0
    while (from < changes.length) {
      val until = endOfRow(side, changes, from)
      others += row.net(key, changes, from, until, into)
      from = until
    }
    val moved = into.removed.length + into.added.length
    counters.count(side, Cancelled, math.max(0L, (changes.length - moved - others).toLong))
    counters.count(side, Deleted, into.removed.length.toLong)
  }

  private def endOfRow(side: Side, changes: ChangeBuffer[R], from: Int): Int = {
    var end = from + 1
    while (end < changes.length && byIdentity(side).compare(changes(from), changes(end)) == 0)
      end += 1
    end
  }

  private def withoutLate(side: Side, changes: ChangeBuffer[R]): Unit = {
    val inTime = changes.partition(0, changes.length)(i => !rows(side).late(changes(i)))
    counters.count(side, Late, (changes.length - inTime).toLong)
    changes.truncate(inTime)
  }
}
