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
    held: HeldRows[R],
    counters: ChangelogCounters,
    keeps: (Side, R) => Boolean,
    retracts: (Side, R) => Boolean
) extends RowChanges[R] {
  import KeyedChanges._

  private var side: Side = _
  private var changes: MarkedRows[R] = _

  private val bySequence: Comparator[R] = (a, b) => rows.compareSequence(side, a, b)
  private val byRow: Comparator[R] = (a, b) => rows.compare(side, a, b)

  override def net(
      key: Long,
      changes: MarkedRows[R],
      from: Int,
      until: Int,
      into: Moving[R]
  ): Int = {
    this.side = into.side
    this.changes = changes
    val found = held.takeOf(side, key, changes(from))
    val before = held.taken
    val matched = held.takenMatched
    val was = found && !rows.isTombstone(side, before)
    val fresh =
      if (!found) from
      else changes.partition(from, until)(i => rows.compareSequence(side, changes(i), before) < 0)
    if (fresh > from) counters.count(side, Stale, (fresh - from).toLong)
    val open = !found || !was && matched
    val expired = open && takesExpired(fresh, until, into)
    val last = ofLast(fresh, until)
    if (last >= 0) comes(key, changes(last), was, before, matched, into)
    else if (last == Gone || !stays(fresh, until, was, before)) {
      bury(key, found, before, open && !expired && last == Void, fresh, until)
      if (was) into.removed.add(before, matched)
    } else comes(key, stayed, was, before, matched, into)
    fresh - from + (if (was) 0 else if (expired) 1 else unknown(fresh, until))
  }

  /** Whether the changes remove a row that has expired. */
  private def takesExpired(from: Int, until: Int, into: Moving[R]): Boolean = {
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
      val going = changes.partition(start, end)(changes.isMarked)
      changes.sortAlike(start, going, byRow)
      changes.sortAlike(going, end, byRow)
      var (came, went) = (start, going)
      while (came < going || went < end) {
        val order =
          if (went == end) -1
          else if (came == going) 1
          else rows.compare(side, changes(came), changes(went))
        if (order <= 0) came += 1
        if (order >= 0) went += 1
        if (order > 0) removed = Some(changes(went - 1))
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
  private def comes(
      key: Long,
      row: R,
      was: Boolean,
      before: R,
      matched: Boolean,
      into: Moving[R]
  ): Unit = {
    val kept = keeps(side, row)
    if (kept && was && rows.compare(side, before, row) == 0) {
      // a write all the same: it begins its time in the state anew
      held.append(side, key, row, matched)
      if (rows.tellsWrites(side) && !isSame(row, before)) into.written.add(row, matched)
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
    var wanted = 0
    var i = from
    while (i < until) {
      if (changes.isMarked(i)) return 0
      if (keeps(side, changes(i))) wanted += 1
      i += 1
    }
    counters.count(side, Unknown, wanted.toLong)
    wanted
  }

  // ---- what is held after the changes ----

  /**
   * The place of the row that the changes of the largest sequence leave, whatever came before them, or
   * [[Gone]], or [[Void]]: one walk, however often a row was changed.
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
    val going = changes.partition(from, until)(changes.isMarked)
    changes.sortAlike(from, going, byRow)
    changes.sortAlike(going, until, byRow)
    var came = going - 1
    var went = until - 1
    var gone = false
    while (came >= from) {
      val order = if (went < going) 1 else rows.compare(side, changes(came), changes(went))
      if (order > 0) return came
      if (order < 0) gone = true else came -= 1
      went -= 1
    }
    if (gone || went >= going) Gone else Void
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
      } else if (left == Gone) there = false
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
   * Notes that a key is gone, with the latest sequence known.
   *
   * @param before the row that was held, or the sign that there is none
   * @param open whether a row of the key may have expired
   */
  private def bury(
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
      .foreach(t => held.append(side, key, t, matched = open && rows.mayHaveExpired(side, t)))
  }

  private def lastRemoval(from: Int, until: Int): Option[Int] =
    (from until until).filterNot(changes.isMarked).reduceOption { (a, b) =>
      val order = rows.compareSequence(side, changes(a), changes(b))
      if (order < 0 || order == 0 && rows.compare(side, changes(a), changes(b)) < 0) b else a
    }
}

private object KeyedChanges {

  /** Nothing is held. */
  private val Gone = -1

  /** What is held is what was held before. */
  private val Void = -2
}
