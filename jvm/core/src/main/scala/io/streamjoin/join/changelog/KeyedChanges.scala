package io.streamjoin.join.changelog

import java.util.Comparator

import io.streamjoin.model.Side

import ChangelogCounters.{RetractedExpired, Stale, Unknown}

/**
 * Nets the changes of one row with a unique key.
 *
 * {{{
 *   ascending by sequence; of each step equal rows of both kinds cancel
 *     a row is left     -> is held now
 *     only removals are -> nothing is held
 *     nothing is        -> what was held before
 * }}}
 *
 * If nothing is known of the key, its row may have expired. The first removal then tells what it was. A
 * tombstone says that there is no row. A marked one does not: void changes have left it, and the row may
 * have expired before them.
 *
 * Rule R29 of `docs/internals/rules.md`.
 *
 * @param retracts whether the removal of a row that is not held is that of an expired one
 */
private[changelog] final class KeyedChanges[R](
    rows: ChangelogRows[R],
    stored: StoredRows[R],
    counters: ChangelogCounters,
    keeps: (Side, R) => Boolean,
    retracts: (Side, R) => Boolean
) extends RowChanges[R] {
  import KeyedChanges._

  private var side: Side = _
  private var changes: ChangeBuffer[R] = _

  private val bySequence: Comparator[R] = (a, b) => rows.compareSequence(side, a, b)
  private val byRow: Comparator[R] = (a, b) => rows.compare(side, a, b)

  override def net(
      key: Long,
      changes: ChangeBuffer[R],
      from: Int,
      until: Int,
      into: KeyDelta[R]
  ): Int = {
    this.side = into.side
    this.changes = changes
    val found = stored.takeOf(side, key, changes(from))
    val before = stored.taken
    val matched = stored.takenMatched
    val was = found && !rows.isTombstone(side, before)
    val fresh =
      if (!found) from
      else changes.partition(from, until)(i => rows.compareSequence(side, changes(i), before) < 0)
    if (fresh > from) counters.count(side, Stale, (fresh - from).toLong)
    val open = !found || !was && matched
    val expired = open && retractExpired(fresh, until, into)
    val last = ofLast(fresh, until)
    if (last >= 0) upsert(key, changes(last), was, before, matched, into)
    else if (last == Deleted || !stays(fresh, until, was, before)) {
      storeTombstone(key, found, before, open && !expired && last == Void, fresh, until)
      if (was) into.removed.add(before, matched)
    } else upsert(key, stayed, was, before, matched, into)
    fresh - from + (if (was) 0 else if (expired) 1 else unknown(fresh, until))
  }

  /** Whether the changes remove a row that has expired. */
  private def retractExpired(from: Int, until: Int, into: KeyDelta[R]): Boolean = {
    var i = from
    while (i < until && (changes.isMarked(i) || !retracts(side, changes(i)))) i += 1
    val expired = if (i < until) firstRemoved(from, until).filter(retracts(side, _)) else None
    expired.foreach { row =>
      into.expired.add(row, marked = false)
      counters.count(side, RetractedExpired)
    }
    expired.nonEmpty
  }

  /**
   * The row that was there before the changes, as the first ones tell that are not void. None: they begin
   * with a row that comes.
   */
  private def firstRemoved(from: Int, until: Int): Option[R] = {
    var removed = Option.empty[R]
    changes.sort(from, until, bySequence)
    var start = from
    var isVoid = true
    while (isVoid && start < until) {
      val end = endOfStep(start, until)
      val firstDelete = changes.partition(start, end)(changes.isMarked)
      changes.sortAlike(start, firstDelete, byRow)
      changes.sortAlike(firstDelete, end, byRow)
      var (insert, delete) = (start, firstDelete)
      while (insert < firstDelete || delete < end) {
        val order =
          if (delete == end) -1
          else if (insert == firstDelete) 1
          else rows.compare(side, changes(insert), changes(delete))
        if (order <= 0) insert += 1
        if (order >= 0) delete += 1
        if (order > 0) removed = Some(changes(delete - 1))
        isVoid &&= order == 0
      }
      start = end
    }
    removed
  }

  /** Where the changes of one sequence end. */
  private def endOfStep(start: Int, until: Int): Int = {
    var end = start + 1
    while (end < until && rows.compareSequence(side, changes(end), changes(start)) == 0) end += 1
    end
  }

  /** A row is there after all. */
  private def upsert(
      key: Long,
      row: R,
      was: Boolean,
      before: R,
      matched: Boolean,
      into: KeyDelta[R]
  ): Unit = {
    val kept = keeps(side, row)
    if (kept && was && rows.compare(side, before, row) == 0) {
      // a write all the same: it begins its time in the state anew
      stored.append(side, key, row, matched)
      if (rows.reportsWrites(side) && !isSame(row, before)) into.written.add(row, matched)
    } else {
      if (was) into.removed.add(before, matched)
      if (kept) into.added.add(row, marked = false)
    }
  }

  /** What is held stays where all changes are stale, or void: nobody has written it. */
  private def isSame(row: R, before: R): Boolean =
    row.asInstanceOf[AnyRef] eq before.asInstanceOf[AnyRef]

  /** Changes of what is not held, none of which brings it. */
  private def unknown(from: Int, until: Int): Int = {
    var removals = 0
    var i = from
    while (i < until) {
      if (changes.isMarked(i)) return 0
      if (keeps(side, changes(i))) removals += 1
      i += 1
    }
    counters.count(side, Unknown, removals.toLong)
    removals
  }

  // ---- what is held after the changes ----

  /**
   * The place of the row that the changes of the largest sequence leave, whatever came before them, or
   * [[Deleted]], or [[Void]]: one walk, however often a row was changed.
   */
  private def ofLast(from: Int, until: Int): Int = {
    var end = from
    var i = from
    while (i < until) {
      val order = if (end == from) 0 else rows.compareSequence(side, changes(i), changes(from))
      if (order > 0) end = from
      if (order >= 0) {
        changes.swap(i, end)
        end += 1
      }
      i += 1
    }
    ofStep(from, end)
  }

  /** The same of changes of one sequence. The largest of several rows is the one that is left. */
  private def ofStep(from: Int, until: Int): Int = {
    val firstDelete = changes.partition(from, until)(changes.isMarked)
    changes.sortAlike(from, firstDelete, byRow)
    changes.sortAlike(firstDelete, until, byRow)
    var insert = firstDelete - 1
    var delete = until - 1
    var deleted = false
    while (insert >= from) {
      val order =
        if (delete < firstDelete) 1 else rows.compare(side, changes(insert), changes(delete))
      if (order > 0) return insert
      if (order < 0) deleted = true else insert -= 1
      delete -= 1
    }
    if (deleted || delete >= firstDelete) Deleted else Void
  }

  private var stayed: R = _

  /**
   * What is held where the changes of the largest sequence have cancelled each other: that depends on all
   * of them. Tells whether there is something, which is [[stayed]] then.
   */
  private def stays(from: Int, until: Int, was: Boolean, before: R): Boolean = {
    changes.sort(from, until, bySequence)
    var there = was
    stayed = before
    var start = from
    while (start < until) {
      val end = endOfStep(start, until)
      val left = ofStep(start, end)
      if (left >= 0) {
        stayed = changes(left)
        there = true
      } else if (left == Deleted) there = false
      else if (there) rewritten(start, end)
      start = end
    }
    there
  }

  /** What was there before changes that are void is of their sequence, where it is among them. */
  private def rewritten(from: Int, until: Int): Unit = {
    var i = from
    while (i < until && rows.compare(side, changes(i), stayed) != 0) i += 1
    if (i < until) stayed = changes(i)
  }

  /**
   * Notes that a key is deleted, with the latest sequence known.
   *
   * @param before the row that was held, or the sign that there is none
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
      .flatMap(i => rows.tombstone(side, changes(i), known))
      .orElse(known.filter(rows.isTombstone(side, _)))
      .foreach(t => stored.append(side, key, t, matched = open && rows.mayHaveExpired(side, t)))
  }

  private def lastRemoval(from: Int, until: Int): Option[Int] =
    (from until until).filterNot(changes.isMarked).reduceOption { (a, b) =>
      val order = rows.compareSequence(side, changes(a), changes(b))
      if (order < 0 || order == 0 && rows.compare(side, changes(a), changes(b)) < 0) b else a
    }
}

private object KeyedChanges {

  /** Nothing is held. */
  private val Deleted = -1

  /** What is held is what was held before. */
  private val Void = -2
}
