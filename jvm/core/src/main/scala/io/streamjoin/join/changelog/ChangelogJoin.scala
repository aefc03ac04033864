package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.join.Count.Inserted
import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.state.JoinState

/**
 * Operator of the changelog join: joins two inputs with inserts, updates and deletes, and
 * corrects the results when an input changes. It knows neither SQL nor a cluster. One instance
 * is one partition, one call the changes of one join key in one batch.
 *
 * The output is exactly the result after the batch minus the result before it:
 *
 * {{{
 *   K = unchanged rows of the key, L- and R- the deleted rows, L+ and R+ the inserted rows
 *
 *                 deleted                        inserted
 *   pairs         L- x (KR and R-),  KL x R-       L+ x (KR and R+),  KL x R+
 *   alone, L-     had no partner in KR and R-
 *   alone, L+                                      has no partner in KR and R+
 *   alone, KL     none in KR, some in R+,          none in KR, some in R-,
 *                 none in R-                       none in R+
 * }}}
 *
 * The same holds for the rows of the right side that are emitted alone. "Alone" is padded with
 * NULLs for outer joins, and the row itself for anti joins. A semi join inserts what an anti
 * join deletes. The sets of pairs are disjoint, so no change of the batch deletes what another
 * one inserts. Changes with equal output columns cancel. A row that the query does not need is
 * left out before updates are distinguished from inserts and deletes.
 *
 * Example, orders LEFT JOIN payments by order id, which is the key of both. A batch at 12:00 has
 * order 7 and no payment. A batch at 12:05 has a payment of order 7, and a batch at 12:10 deletes
 * it:
 *
 * {{{
 *   12:00   +order 7      emits insert (7, NULL)
 *   12:05   +payment 7    order 7 is in KL, with no partner in KR, one in R+:
 *                         emits delete (7, NULL), insert (7, paid), as one update
 *   12:10   -payment 7    no partner in KR, one in R-: emits the reverse update
 * }}}
 *
 * The number of partners of a row is not stored: it follows from the rows. If counting needs a
 * long walk, the number is cached ([[PartnerCounts]]).
 *
 * A row that is evicted or expires deletes no results. A later delete of an expired row does: it
 * counts as the delete of a row that was stored until then. It is joined with the rows of the
 * other side that are stored, or are deleted in the same batch. If the batch writes the row again,
 * the pairs that this deletes and inserts cancel.
 *
 * Watermarks evict a row once no change of it, and none of a partner, can arrive that is not
 * late. With the bounds of the condition this is
 *
 * {{{
 *   time of the row < min(watermark of this time, largest of (watermark - slack) of the other input)
 * }}}
 *
 * which is also the watermark of the column in the output. Partners that would be emitted alone
 * otherwise are marked ([[io.streamjoin.state.BufferedRow.matched]]), so that they are not
 * emitted alone when they have lost it.
 *
 * Rules R25, R26 and R28 of `docs/internals/rules.md`.
 *
 * Source: the regular join of Flink SQL (`StreamingJoinOperator`,
 * `StreamingSemiAntiJoinOperator`). The output is its output at the end of a batch, without
 * intermediate changes. Not thread-safe.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
final class ChangelogJoin[R, O](
    joinType: JoinType,
    rows: ChangelogRows[R],
    output: ChangelogOutput[R, O],
    state: JoinState[R],
    val counters: Counters,
    partners: PartnerCounts = new PartnerCounts
) extends Expiring {
  import ChangelogJoin._

  private val outputDelta = new OutputDelta[O](output, counters)
  private val stored = new StoredRows[R](rows, state)
  private val changes = BySide.of[NetChanges[R]] { side =>
    // marked when a partner has left the state
    val forgets = joinType.notesMatches(side) && rows(side.other).limitCount > 0
    if (rows(side).keyed) new KeyedChanges[R](side, joinType, rows(side), stored, counters)
    else new CountedChanges[R](side, joinType, rows(side), stored, counters, forgets)
  }

  // of the current join key
  private val ofLeft = new KeyDelta[R](Left)
  private val ofRight = new KeyDelta[R](Right)
  private val transitions = mutable.ArrayBuffer.empty[MatchTransition[R]]
  private val unmarked = mutable.ArrayBuffer.empty[MatchTransition[R]]
  private val staying = new AnyStayingRow

  /**
   * Processes the changes of one join key.
   *
   * @param key a hash of it; equal keys have equal hashes, the condition decides the rest
   * @param left the changes of the left side, marked for `insert` and `update_postimage`, not
   *   marked for `delete` and `update_preimage`. The rows do not have their kind. They are
   *   needed until the output has been read; the buffer may be reused
   * @return the output, deletes first; to be read before the next call
   */
  def process(key: Long, left: ChangeBuffer[R], right: ChangeBuffer[R]): Iterator[Changed[O]] = {
    ofLeft.clear()
    ofRight.clear()
    changes.left.of(key, left, ofLeft)
    changes.right.of(key, right, ofRight)
    if (!ofLeft.isEmpty || !ofRight.isEmpty) {
      ofLeft.begin(joinType.leftOnly && !partners.has(Left, key))
      ofRight.begin(joinType.leftOnly && !partners.has(Right, key))
      partners.begin()
      joinStored(key, ofLeft)
      joinStored(key, ofRight)
      joinEachOther()
      finish(key, ofLeft)
      finish(key, ofRight)
      partners.end(state.size)
    }
    reportWritten(ofLeft)
    reportWritten(ofRight)
    outputDelta.settle()
  }

  override def expire(side: Side, before: Array[Long], now: Array[Long], why: Count): Unit = {
    if (joinType.notesMatches(side.other)) {
      state.evict(side, before, now).foreach { evicted =>
        counters.count(side, why)
        note(side, evicted.key, rows(side).copy(evicted.row))
      }
    } else counters.count(side, why, stored.discard(side, before, now))
  }

  /** Marks the partners of a row that has expired or was evicted. */
  private def note(side: Side, key: Long, evicted: R): Unit = {
    val others = state.probe(side.other, key, Long.MinValue, Long.MaxValue)
    others.foreach { partner =>
      if (!partner.matched && pairs(side, evicted, partner.row)) {
        others.setMatched()
      }
    }
  }

  private def pairs(side: Side, row: R, other: R): Boolean =
    if (side == Left) rows.matches(row, other) else rows.matches(other, row)

  private def joined(side: Side, row: R, other: R): Option[O] =
    if (side == Left) output.joined(row, other) else output.joined(other, row)

  /** Whether a row is emitted alone, by whether it has a partner. */
  private def isAlone(partner: Boolean): Boolean =
    if (joinType == JoinType.LeftSemi) partner else !partner

  /** Emits the rows that are alone, and stores the inserted rows. */
  private def finish(key: Long, delta: KeyDelta[R]): Unit = {
    val side = delta.side
    if (joinType.notesMatches(side)) {
      emitAlone(side, delta.removed, added = false)
      emitAlone(side, delta.expired, added = false)
      emitAlone(side, delta.added, added = true)
      if (partners.has(side, key)) remember(key, delta)
    }
    var i = 0
    while (i < delta.added.length) {
      stored.append(side, key, delta.added(i), matched = false)
      i += 1
    }
    counters.count(side, Inserted, delta.added.length.toLong)
  }

  /** Reports rows that were written again without a change, for a TTL above the join. */
  private def reportWritten(delta: KeyDelta[R]): Unit = {
    var i = 0
    while (i < delta.written.length) {
      val row = delta.written(i)
      outputDelta.rewrite(output.alone(delta.side, row), output.alone(delta.side, row))
      i += 1
    }
  }

  private def emitAlone(side: Side, some: ChangeBuffer[R], added: Boolean): Unit = {
    var i = 0
    while (i < some.length) {
      if (isAlone(some.partners(i) > 0)) outputDelta.emit(output.alone(side, some(i)), added)
      i += 1
    }
  }

  private def remember(key: Long, delta: KeyDelta[R]): Unit =
    for (i <- 0 until delta.added.length) {
      val seen = rows(delta.side).seen(delta.added(i))
      if (delta.counted) partners.put(delta.side, key, seen, delta.added.partners(i))
      else partners.forget(delta.side, key, seen)
    }

  /** Joins the deleted and inserted rows of one side with the unchanged rows of the other. */
  private def joinStored(key: Long, delta: KeyDelta[R]): Unit = if (!delta.isEmpty) {
    val side = delta.side
    val other = side.other
    val notesOther = joinType.notesMatches(other)
    val known = partners.has(other, key)
    staying.begin(side, key)
    val candidates = state.probe(other, key, Long.MinValue, Long.MaxValue)
    while ((notesOther || !delta.settled) && candidates.hasNext) {
      val partner = candidates.next()
      val row = partner.row
      val lost = joinWith(side, delta.removed, row, added = false)
      val won = joinWith(side, delta.added, row, added = true)
      val retracted = if (!notesOther || partner.matched) retract(delta, row) else 0
      if (partner.matched) {
        if (lost + won + retracted > 0 && rows(side).settlesExpired) {
          unmarked += new MatchTransition(rows(other).copy(row), won, counted = true)
          candidates.remove()
        }
      } else if (notesOther && lost + won > 0) {
        val stay =
          if (known) partners.change(other, key, rows(other).seen(row), lost, won) else None
        if (
          (lost > 0) != (won > 0) && stay.forall(_ == 0) && !(stay.isEmpty && staying.matches(row))
        )
          transitions += new MatchTransition(rows(other).copy(row), won, stay.nonEmpty)
      }
    }
    delta.counted = !candidates.hasNext
    candidates.close()
    if (unmarked.nonEmpty) emitUnmarked(side, key)
    if (transitions.nonEmpty) emitTransitions(side, key)
  }

  /**
   * Deletes the pairs of expired rows with another row. It is not called for a row that is
   * marked when a partner expires, and is not marked: that row arrived later.
   *
   * @return the number of its partners among the expired rows
   */
  private def retract(delta: KeyDelta[R], other: R): Int =
    joinWith(delta.side, delta.expired, other, added = false)

  /**
   * Removes the marks of unchanged rows of the other side whose only expired partner is deleted
   * or replaced now. From now on their stored partners count.
   */
  private def emitUnmarked(side: Side, key: Long): Unit = {
    val other = side.other
    val known = partners.has(other, key)
    for (one <- unmarked) {
      if (one.won == 0) outputDelta.emit(output.alone(other, one.row), added = isAlone(false))
      if (known) partners.put(other, key, rows(other).seen(one.row), one.won)
      stored.append(other, key, one.row, matched = false)
    }
    unmarked.clear()
  }

  /**
   * Emits unchanged rows of the other side that have lost their last partner, or found their
   * first.
   */
  private def emitTransitions(side: Side, key: Long): Unit = {
    count(side, key, transitions.filterNot(_.counted))
    for (one <- transitions if one.stay == 0)
      outputDelta.emit(output.alone(side.other, one.row), added = isAlone(one.won > 0))
    transitions.clear()
  }

  /** Counts the rows that match the other one, and emits the pairs. */
  private def joinWith(side: Side, some: ChangeBuffer[R], other: R, added: Boolean): Int = {
    var all = 0
    var i = 0
    while (i < some.length) {
      if (pairs(side, some(i), other)) {
        all += 1
        some.addPartners(i, 1)
        if (!joinType.leftOnly) outputDelta.emit(joined(side, some(i), other), added)
      }
      i += 1
    }
    all
  }

  /**
   * Counts the partners of rows of the other side among the unchanged rows of `side`, in one
   * walk. Most have some, or the key has few rows: then the walk is short. After a long walk
   * the number is cached.
   */
  private def count(
      side: Side,
      key: Long,
      transitions: mutable.ArrayBuffer[MatchTransition[R]]
  ): Unit =
    if (transitions.nonEmpty) {
      var walked = 0
      val candidates = state.probe(side, key, Long.MinValue, Long.MaxValue)
      while (transitions.nonEmpty && candidates.hasNext) {
        val row = candidates.next().row
        for (one <- transitions if pairs(side, row, one.row)) one.stay += 1
        walked += 1
        if (walked <= ShortWalk) transitions.filterInPlace(_.stay == 0)
      }
      candidates.close()
      if (walked > ShortWalk)
        for (one <- transitions)
          partners.put(side.other, key, rows(side.other).seen(one.row), one.stay + one.won)
    }

  /** An unchanged row of a side: mostly it is enough to know that a row still has a partner. */
  private final class AnyStayingRow {
    private var side: Side = _
    private var key = 0L
    private var looked = false
    private var one: Option[R] = None

    def begin(side: Side, key: Long): Unit = {
      this.side = side
      this.key = key
      looked = false
    }

    /** Whether it is a partner of a row of the other side. */
    def matches(other: R): Boolean = {
      if (!looked) look()
      one.exists(pairs(side, _, other))
    }

    private def look(): Unit = {
      val candidates = state.probe(side, key, Long.MinValue, Long.MaxValue)
      one = Option.when(candidates.hasNext)(rows(side).copy(candidates.next().row))
      candidates.close()
      looked = true
    }
  }

  private def joinEachOther(): Unit = {
    joinEach(ofRight.removed, ofLeft.removed, added = false)
    joinEach(ofRight.added, ofLeft.added, added = true)
    joinEach(ofRight.expired, ofLeft.expired, added = false)
    retractRemoved(ofLeft, ofRight)
    retractRemoved(ofRight, ofLeft)
  }

  /** Deletes the pairs of expired rows of one side with deleted rows of the other. */
  private def retractRemoved(delta: KeyDelta[R], others: KeyDelta[R]): Unit = {
    val notes = joinType.notesMatches(others.side)
    var i = 0
    while (i < others.removed.length) {
      if (!notes || others.removed.isMarked(i)) retract(delta, others.removed(i)): Unit
      i += 1
    }
  }

  private def joinEach(
      right: ChangeBuffer[R],
      left: ChangeBuffer[R],
      added: Boolean
  ): Unit = {
    var i = 0
    while (i < right.length) {
      right.addPartners(i, joinWith(Left, left, right(i), added))
      i += 1
    }
  }
}

private object ChangelogJoin {

  /** Rows that are read before the result is worth caching. */
  val ShortWalk = 64
}
