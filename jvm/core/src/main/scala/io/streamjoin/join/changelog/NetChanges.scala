package io.streamjoin.join.changelog

import java.util.Comparator

import io.streamjoin.join.Count.{Cancelled, Deleted, Input, Late}
import io.streamjoin.join.Counters
import io.streamjoin.model.{JoinType, Side}

/**
 * Consolidates the changes of one side in a batch by row identity, and deletes rows from the
 * state. The order in which changes arrive does not matter. See [[KeyedChanges]] for rows with a
 * unique key, and [[CountedChanges]] for others.
 *
 * @param rows the rows of the side
 */
private[changelog] abstract class NetChanges[R](
    side: Side,
    joinType: JoinType,
    rows: InputRows[R],
    counters: Counters
) {
  private val inOrder: Comparator[R] = (a, b) => compare(a, b)

  /** @param changes of one join key, marked for inserts; the buffer may be reused afterwards */
  def of(key: Long, changes: ChangeBuffer[R], into: KeyDelta[R]): Unit = if (!changes.isEmpty) {
    counters.count(side, Input, changes.length.toLong)
    withoutLate(changes)
    changes.sort(inOrder)
    var others = 0
    var from = 0
    while (from < changes.length) {
      val until = endOfRow(changes, from)
      others += net(key, changes, from, until, into)
      from = until
    }
    val moved = into.removed.length + into.added.length
    counters.count(side, Cancelled, math.max(0L, (changes.length - moved - others).toLong))
    counters.count(side, Deleted, into.removed.length.toLong)
  }

  /**
   * Removes the stored row from the state, and adds its deletes and inserts to the delta.
   *
   * @param key the join key
   * @param changes those of the row are from `from` to `until`, in the order of [[compare]]
   * @return how many changes were counted as something else than void
   */
  protected def net(
      key: Long,
      changes: ChangeBuffer[R],
      from: Int,
      until: Int,
      into: KeyDelta[R]
  ): Int

  /**
   * Whether a row is needed. One that can match nothing is not if it is neither emitted alone nor
   * required for its key.
   */
  protected def keeps(row: R): Boolean = !rows.expired(row) &&
    (joinType.preserves(side) || rows.joinable(row) || rows.remembered(row))

  /**
   * Whether a delete of a row that is not stored is the delete of an expired row that may have
   * results.
   */
  protected def retracts(row: R): Boolean =
    rows.mayHaveExpired(row) && (joinType.preserves(side) || rows.joinable(row))

  private def endOfRow(changes: ChangeBuffer[R], from: Int): Int = {
    var end = from + 1
    while (end < changes.length && rows.compareIdentity(changes(from), changes(end)) == 0) end += 1
    end
  }

  /** By row identity. Those of a unique key follow in the order of their sequences. */
  private def compare(a: R, b: R): Int = {
    val identity = rows.compareIdentity(a, b)
    if (identity != 0 || !rows.keyed) identity
    else {
      val sequence = rows.compareSequence(a, b)
      if (sequence != 0) sequence else rows.compare(a, b)
    }
  }

  private def withoutLate(changes: ChangeBuffer[R]): Unit = {
    val arrived = changes.length
    changes.retain(!rows.late(_))
    counters.count(side, Late, (arrived - changes.length).toLong)
  }
}
