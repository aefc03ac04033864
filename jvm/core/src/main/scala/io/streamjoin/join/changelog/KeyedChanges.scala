package io.streamjoin.join.changelog

import io.streamjoin.join.Count.{RetractedExpired, Stale, Unknown}
import io.streamjoin.join.Counters
import io.streamjoin.model.{JoinType, Side}

/**
 * Consolidates the changes of one row with a unique key.
 *
 * {{{
 *   in the order of sequences; equal rows of both kinds in one step cancel
 *     a row is left         -> it is stored
 *     only deletes are left -> nothing is stored
 *     nothing is left       -> the row that was stored before, or has expired
 * }}}
 *
 * If nothing is stored for the key, its row may have expired. Then the first delete has the
 * expired row. A tombstone shows that there is no row. A marked tombstone does not: void changes
 * have left it, and the row may have expired before them.
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
  import KeyedChanges._

  private var changes: ChangeBuffer[R] = _

  /** Whether the row may have expired, as far as the changes before show. */
  private var mayBeExpired = false
  private val taken = new ChangeBuffer[R]

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
    val open = !found || !was && matched
    mayBeExpired = open
    val expired = open && retractExpired(fresh, until, into)
    if (stays(fresh, until, was, before)) upsert(key, stayed, was, before, matched, into)
    else {
      storeTombstone(key, found, before, open && !expired && endsVoid, fresh, until)
      if (was) into.removed.add(before, matched)
    }
    fresh - from + (if (was) 0 else if (expired) 1 else unknown(fresh, until))
  }

  /** Retracts the expired row if the changes delete it, and returns whether they do. */
  private def retractExpired(from: Int, until: Int, into: KeyDelta[R]): Boolean = {
    var i = from
    while (i < until && (changes.isMarked(i) || !retracts(changes(i)))) i += 1
    val expired = if (i < until) firstRemoved(from, until).filter(retracts) else None
    expired.foreach { row =>
      into.expired.add(row, marked = false)
      counters.count(side, RetractedExpired)
    }
    expired.nonEmpty
  }

  /**
   * The row before the changes, by the first changes that are not void. None: the first of them
   * is an insert.
   */
  private def firstRemoved(from: Int, until: Int): Option[R] = {
    var removed = Option.empty[R]
    var start = from
    var isVoid = true
    while (isVoid && start < until) {
      val end = endOfStep(start, until)
      while (start < end) {
        val endOfEqual = endOfEqualRows(start, end)
        val inserts = netInserts(start, endOfEqual)
        if (inserts < 0 || isBack(inserts, start)) removed = Some(changes(start))
        isVoid &&= inserts == 0 && removed.isEmpty
        start = endOfEqual
      }
    }
    removed
  }

  /** The end of the changes of one sequence. */
  private def endOfStep(start: Int, until: Int): Int = {
    var end = start + 1
    while (end < until && rows.compareSequence(changes(end), changes(start)) == 0) end += 1
    end
  }

  private def endOfEqualRows(start: Int, until: Int): Int = {
    var end = start + 1
    while (end < until && rows.compare(changes(end), changes(start)) == 0) end += 1
    end
  }

  /** Inserts minus deletes. */
  private def netInserts(from: Int, until: Int): Int = {
    var inserts = 0
    var i = from
    while (i < until) {
      inserts += (if (changes.isMarked(i)) 1 else -1)
      i += 1
    }
    inserts
  }

  /** The row exists after the changes. */
  private def upsert(
      key: Long,
      row: R,
      was: Boolean,
      before: R,
      matched: Boolean,
      into: KeyDelta[R]
  ): Unit = {
    val kept = keeps(row)
    if (kept && was && rows.compare(before, row) == 0) {
      // a write nevertheless: its time in the state begins anew
      stored.append(side, key, row, matched)
      if (rows.reportsWrites && !isSame(row, before)) into.written.add(row, matched)
    } else {
      if (was) into.removed.add(before, matched)
      if (kept) into.added.add(row, marked = false)
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

  /** Whether as many equal deletes as inserts write an expired row again. */
  private def isBack(inserts: Int, at: Int): Boolean =
    inserts == 0 && mayBeExpired && returns(changes(at))

  // ---- the stored row after the changes ----

  /**
   * The position of the row after the changes of one sequence, for any changes before them, or
   * [[Deleted]], or [[Void]]. Of several rows the largest is left.
   */
  private def ofStep(from: Int, until: Int): Int = {
    var left = Void
    var start = from
    while (start < until) {
      val end = endOfEqualRows(start, until)
      val inserts = netInserts(start, end)
      if (inserts > 0 || isBack(inserts, start)) left = start
      else if (inserts < 0 && left == Void) left = Deleted
      start = end
    }
    left
  }

  private var stayed: R = _
  private var endsVoid = true

  /**
   * Whether there is a row after the changes, in [[stayed]], and whether those of the largest
   * sequence are void, in [[endsVoid]].
   */
  private def stays(from: Int, until: Int, was: Boolean, before: R): Boolean = {
    var there = was
    stayed = before
    endsVoid = true
    var start = from
    while (start < until) {
      val end = endOfStep(start, until)
      val left = ofStep(start, end)
      endsVoid = left == Void
      mayBeExpired &&= endsVoid
      if (left >= 0) {
        stayed = changes(left)
        there = true
      } else if (left == Deleted) there = false
      else if (there) rewritten(start, end)
      start = end
    }
    there
  }

  /** A row before void changes has their sequence, if it is among them. */
  private def rewritten(from: Int, until: Int): Unit = {
    var i = from
    while (i < until && rows.compare(changes(i), stayed) != 0) i += 1
    if (i < until) stayed = changes(i)
  }

  /**
   * Stores a tombstone of a deleted key, with the latest known sequence.
   *
   * @param before the stored row, or its tombstone
   * @param open whether a row of the key may have expired
   */
  private def storeTombstone(
      key: Long,
      found: Boolean,
      before: R,
      open: Boolean,
      from: Int,
      until: Int
  ): Unit = {
    val known = Option.when(found)(before)
    lastRemoval(from, until)
      .flatMap(i => rows.tombstone(changes(i), known))
      .orElse(known.filter(rows.isTombstone(_)))
      .foreach(t => stored.append(side, key, t, matched = open && rows.mayHaveExpired(t)))
  }

  private def lastRemoval(from: Int, until: Int): Option[Int] =
    (until - 1 to from by -1).find(!changes.isMarked(_))
}

private object KeyedChanges {

  /** Nothing is stored. */
  private val Deleted = -1

  /** The row that was stored before. */
  private val Void = -2
}
