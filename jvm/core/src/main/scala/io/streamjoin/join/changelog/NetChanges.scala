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
  private val inOrder = BySide.of[Comparator[R]](side => (a, b) => compare(rows(side), a, b))
  private val ofRow = BySide.of[RowChanges[R]] { side =>
    if (rows(side).keyed) new KeyedChanges[R](rows, stored, counters, keeps, retracts)
    else new CountedChanges[R](rows, stored, counters, keeps, forgets, retracts)
  }

  /** @param changes of one join key, marked for inserts; the buffer may be reused afterwards */
  def of(key: Long, changes: ChangeBuffer[R], into: KeyDelta[R]): Unit = if (!changes.isEmpty) {
    val side = into.side
    withoutLate(side, changes)
    changes.sort(inOrder(side))
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
    while (end < changes.length && rows(side).compareIdentity(changes(from), changes(end)) == 0)
      end += 1
    end
  }

  /** By row identity. Those of a unique key follow in the order of their sequences. */
  private def compare(rows: InputRows[R], a: R, b: R): Int = {
    val identity = rows.compareIdentity(a, b)
    if (identity != 0 || !rows.keyed) identity
    else {
      val sequence = rows.compareSequence(a, b)
      if (sequence != 0) sequence else rows.compare(a, b)
    }
  }

  private def withoutLate(side: Side, changes: ChangeBuffer[R]): Unit = {
    val arrived = changes.length
    changes.retain(!rows(side).late(_))
    counters.count(side, Late, (arrived - changes.length).toLong)
  }
}
