package io.streamjoin.join.changelog

import io.streamjoin.join.Count.{Expired, Late, Stale, Unknown}
import io.streamjoin.join.Counters
import io.streamjoin.model.{JoinType, Side}

/**
 * Consolidates the changes of one row with a unique key.
 *
 * {{{
 *   in the order of sequences; equal rows of both kinds in one step cancel
 *     a row is left         -> it is stored
 *     only deletes are left -> nothing is stored
 *     nothing is left       -> the row that was stored before
 * }}}
 *
 * If neither a row nor a tombstone is stored for the key, the first delete that is left is that of
 * a row that has expired, see [[KeyDelta.expired]].
 *
 * Rule R29 of `docs/internals/rules.md`.
 */
private[changelog] final class KeyedChanges[R](
    side: Side,
    joinType: JoinType,
    rows: InputRows[R],
    stored: StoredRows[R],
    counters: Counters
) extends NetChanges[R](side, joinType, rows, counters) {
  import KeyedChanges.Nothing

  private var changes: ChangeBuffer[R] = _
  private val taken = new ChangeBuffer[R]

  // the effect of the changes: whether a row exists after them, which, and the row before them
  private var exists = false
  private var after: R = _
  private var isVoid = true
  private var replaced = Nothing

  // the effect of the changes of one sequence: positions of the inserted and the deleted row
  private var inserted = Nothing
  private var deleted = Nothing

  override protected def net(
      key: Long,
      changes: ChangeBuffer[R],
      from: Int,
      until: Int,
      into: KeyDelta[R]
  ): Int = {
    this.changes = changes
    taken.clear()
    stored.take(side, key, changes(from), atMost = 1, taken) { (row, _) =>
      rows.compareIdentity(row, changes(from)) == 0
    }
    val found = !taken.isEmpty
    val before = if (found) taken(0) else null.asInstanceOf[R]
    val matched = found && taken.isMarked(0)
    val was = found && !rows.isTombstone(before)
    var fresh = from
    while (found && fresh < until && rows.compareSequence(changes(fresh), before) < 0)
      fresh += 1
    if (fresh > from) counters.count(side, Stale, (fresh - from).toLong)
    replay(fresh, until, was, before)
    val expired = !found && replaced != Nothing && retracts(changes(replaced))
    if (expired) into.expired.add(changes(replaced), marked = false)
    // a delete with only the key does not have the time of its row
    val late = was && !exists && rows.late(before)
    if (exists) upsert(key, was, before, matched, into)
    else if (late) {
      stored.append(side, key, before, matched)
      counters.count(side, Late, (until - fresh).toLong)
    } else {
      if (found || !isVoid) storeTombstone(key, found, before, fresh, until)
      if (was) into.removed.add(before, matched)
    }
    fresh - from + (
      if (late) until - fresh
      else if (was) 0
      else if (expired) 1
      else unknown(fresh, until)
    )
  }

  /** Applies the changes to the row before them, if it `was` stored. */
  private def replay(from: Int, until: Int, was: Boolean, before: R): Unit = {
    exists = was
    after = before
    isVoid = true
    replaced = Nothing
    var start = from
    while (start < until) {
      val end = endOfSequence(start, until)
      consolidate(start, end)
      if (inserted != Nothing || deleted != Nothing) {
        if (isVoid) replaced = deleted
        isVoid = false
        exists = inserted != Nothing
        if (exists) after = changes(inserted)
      } else if (exists) rewritten(start, end)
      start = end
    }
  }

  /** Of several rows of one sequence, the largest counts. */
  private def consolidate(from: Int, until: Int): Unit = {
    inserted = Nothing
    deleted = Nothing
    var start = from
    while (start < until) {
      var end = start
      var inserts = 0
      while (end < until && rows.compare(changes(end), changes(start)) == 0) {
        inserts += (if (changes.isMarked(end)) 1 else -1)
        end += 1
      }
      if (inserts > 0) inserted = start else if (inserts < 0) deleted = start
      start = end
    }
  }

  private def endOfSequence(start: Int, until: Int): Int = {
    var end = start + 1
    while (end < until && rows.compareSequence(changes(end), changes(start)) == 0) end += 1
    end
  }

  /** A row before void changes has their sequence, if it is among them. */
  private def rewritten(from: Int, until: Int): Unit = {
    var i = from
    while (i < until && rows.compare(changes(i), after) != 0) i += 1
    if (i < until) after = changes(i)
  }

  /** The row exists after the changes. */
  private def upsert(
      key: Long,
      was: Boolean,
      before: R,
      matched: Boolean,
      into: KeyDelta[R]
  ): Unit = {
    val kept = keeps(after)
    if (kept && was && rows.compare(before, after) == 0) {
      // a write nevertheless: its time in the state begins anew
      stored.append(side, key, after, matched)
      if (rows.reportsWrites && !isSame(after, before)) into.written.add(after, matched)
    } else {
      if (was) into.removed.add(before, matched)
      if (kept) into.added.add(after, marked = false)
      else if (rows.expired(after)) counters.count(side, Expired)
    }
  }

  /** The stored row is unchanged if all changes are stale or void: there was no write. */
  private def isSame(row: R, before: R): Boolean =
    row.asInstanceOf[AnyRef] eq before.asInstanceOf[AnyRef]

  /** Counts deletes of rows that are not stored, if no change inserts one. */
  private def unknown(from: Int, until: Int): Int = {
    var removals = 0
    var i = from
    while (i < until) {
      if (changes.isMarked(i)) return 0
      if (keeps(changes(i))) removals += 1
      i += 1
    }
    counters.count(side, Unknown, removals.toLong)
    removals
  }

  /**
   * Stores a tombstone of a deleted key, with the latest known sequence.
   *
   * @param before the stored row, or its tombstone
   */
  private def storeTombstone(
      key: Long,
      found: Boolean,
      before: R,
      from: Int,
      until: Int
  ): Unit = {
    val known = Option.when(found)(before)
    (until - 1 to from by -1)
      .find(!changes.isMarked(_))
      .flatMap(i => rows.tombstone(changes(i), known))
      .orElse(known.filter(rows.isTombstone(_)))
      .foreach(stored.append(side, key, _, matched = false))
  }
}

private object KeyedChanges {

  /** The position of no change. */
  private val Nothing = -1
}
