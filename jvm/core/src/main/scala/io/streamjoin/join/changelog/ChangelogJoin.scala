package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.state.JoinState

import ChangelogCounters.{Count, Inserted}

/**
 * The join of two changelogs: rows that come and go, and results that are corrected when they do. It
 * knows neither SQL nor a cluster; one instance is one partition, one call the changes of one join key
 * in one batch.
 *
 * What comes out is exactly the result after the batch less the result before it:
 *
 * {{{
 *   K = rows of the key that stay, L- and R- those that go, L+ and R+ those that come
 *
 *                 taken back                       given
 *   pairs         L- x (KR and R-),  KL x R-       L+ x (KR and R+),  KL x R+
 *   alone, L-     had no partner in KR and R-
 *   alone, L+                                      has no partner in KR and R+
 *   alone, KL     none in KR, some in R+,          none in KR, some in R-,
 *                 none in R-                       none in R+
 * }}}
 *
 * and the same for the rows of the right that come out alone. "Alone" is padded with NULLs for outer
 * joins and the row itself for anti joins; a semi join gives what an anti join takes back. The sets of
 * pairs are disjoint, so nothing is ever given that a later change of the batch takes back. What is
 * equal in the columns that come out cancels. A row that nobody wants counts as one that is not there:
 * it is left out before an update is told from an insert or a delete.
 *
 * How many partners a row has is not stored: it follows from the rows. Where finding out takes a long walk
 * it is remembered ([[PartnerCounts]]).
 *
 * A row that expires takes nothing back. A removal of it that comes later does: it counts as that of a row
 * that was held until then, with the rows of the other side that are held, or are removed in the same batch.
 *
 * By watermarks a row leaves once neither a change of its own nor one of a partner can come that is not
 * late: with the bounds of the condition
 *
 * {{{
 *   time of the row < min(watermark of this time, largest of (watermark - slack) of the other input)
 * }}}
 *
 * which is the watermark that the column has behind an event-time join, and here. It is noted at the partners that come out
 * alone otherwise ([[io.streamjoin.state.BufferedRow.matched]]), so that they do not when they have
 * lost it.
 *
 * Rules R25, R26 and R28 of `docs/internals/rules.md`.
 *
 * Source: Flink SQL's regular join (`StreamingJoinOperator`, `StreamingSemiAntiJoinOperator`), whose
 * effects these are once a batch is over, without those in between. Not thread-safe.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
final class ChangelogJoin[R, O](
    joinType: JoinType,
    rows: ChangelogRows[R],
    output: ChangelogOutput[R, O],
    state: JoinState[R],
    val counters: ChangelogCounters,
    partners: PartnerCounts = new PartnerCounts
) extends Expiring {
  import ChangelogJoin._

  private val outputDelta = new OutputDelta[O](output, counters)
  private val stored = new StoredRows[R](rows, state)
  private val changes = new NetChanges[R](rows, stored, counters, keeps, forgets, retracts)

  // of the join key in hand
  private val ofLeft = new KeyDelta[R](Left)
  private val ofRight = new KeyDelta[R](Right)
  private val transitions = mutable.ArrayBuffer.empty[MatchTransition[R]]
  private val unmarked = mutable.ArrayBuffer.empty[MatchTransition[R]]
  private val staying = new AnyStayingRow

  /** A row that can match nothing is of no use where it neither comes out alone nor tells of its key. */
  private def keeps(side: Side, row: R): Boolean =
    joinType.preserves(side) || rows.joinable(side, row) || rows.remembered(side, row)

  /** Whether rows of this side note that a partner has left the state. */
  private def forgets(side: Side): Boolean =
    joinType.notesMatches(side) && rows.limitCount(side.other) > 0

  /** Whether the removal of a row that is not held is that of an expired one that may have had results. */
  private def retracts(side: Side, row: R): Boolean =
    rows.mayHaveExpired(side, row) && (joinType.preserves(side) || rows.joinable(side, row))

  /**
   * The changes of one join key.
   *
   * @param key a hash of it; equal keys have equal hashes, the condition tells the rest
   * @param left those of the left, marked if a row is there from now on (`insert`, `update_postimage`), not if
   *   it is no more (`delete`, `update_preimage`). The rows do not tell their kind. They are needed until
   *   what comes out has been read; the list is of no more use
   * @return what comes out; removals first. To be read before the next call
   */
  def process(key: Long, left: ChangeBuffer[R], right: ChangeBuffer[R]): Iterator[Changed[O]] = {
    ofLeft.clear()
    ofRight.clear()
    changes.of(key, left, ofLeft)
    changes.of(key, right, ofRight)
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
        note(side, evicted.key, rows.copy(side, evicted.row))
      }
    } else counters.count(side, why, stored.discard(side, before, now))
  }

  /** Notes at the partners of a row that has expired that they had one. */
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

  /** Whether a row comes out by itself, by whether it has a partner. */
  private def isAlone(partner: Boolean): Boolean =
    if (joinType == JoinType.LeftSemi) partner else !partner

  /** What comes out alone, and what is held from now on. */
  private def finish(key: Long, delta: KeyDelta[R]): Unit = {
    val side = delta.side
    if (joinType.notesMatches(side)) {
      emitAlone(side, delta.removed, delta.had, added = false)
      emitAlone(side, delta.expired, delta.hadExpired, added = false)
      emitAlone(side, delta.added, delta.has, added = true)
      if (partners.has(side, key)) remember(key, delta)
    }
    var i = 0
    while (i < delta.added.length) {
      stored.append(side, key, delta.added(i), matched = false)
      i += 1
    }
    counters.count(side, Inserted, delta.added.length.toLong)
  }

  /** Of a join that gives the rows of a side alone, for the sake of ages above it. */
  private def reportWritten(delta: KeyDelta[R]): Unit = {
    var i = 0
    while (i < delta.written.length) {
      val row = delta.written(i)
      outputDelta.rewrite(output.alone(delta.side, row), output.alone(delta.side, row))
      i += 1
    }
  }

  private def emitAlone(
      side: Side,
      some: ChangeBuffer[R],
      found: Array[Int],
      added: Boolean
  ): Unit = {
    var i = 0
    while (i < some.length) {
      if (isAlone(found(i) > 0)) outputDelta.emit(output.alone(side, some(i)), added)
      i += 1
    }
  }

  private def remember(key: Long, delta: KeyDelta[R]): Unit =
    for (i <- 0 until delta.added.length) {
      val seen = rows.seen(delta.side, delta.added(i))
      if (delta.counted) partners.put(delta.side, key, seen, delta.has(i))
      else partners.forget(delta.side, key, seen)
    }

  /** The rows of one side that go and come, against those of the other that stay. */
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
      val lost = joinWith(side, delta.removed, row, delta.had, added = false)
      val won = joinWith(side, delta.added, row, delta.has, added = true)
      val retracted = if (!notesOther || partner.matched) retract(delta, row) else 0
      if (partner.matched) {
        if (lost + won + retracted > 0 && rows.settlesExpired(side)) {
          unmarked += new MatchTransition(rows.copy(other, row), won, counted = true)
          candidates.remove()
        }
      } else if (notesOther && lost + won > 0) {
        val stay =
          if (known) partners.change(other, key, rows.seen(other, row), lost, won) else None
        if (
          (lost > 0) != (won > 0) && stay.forall(_ == 0) && !(stay.isEmpty && staying.matches(row))
        )
          transitions += new MatchTransition(rows.copy(other, row), won, stay.nonEmpty)
      }
    }
    delta.counted = !candidates.hasNext
    candidates.close()
    if (unmarked.nonEmpty) emitUnmarked(side, key)
    if (transitions.nonEmpty) emitTransitions(side, key)
  }

  /**
   * Takes back the pairs of expired rows with another one. Not asked of a row that notes expired partners and
   * has lost none: it came later.
   *
   * @return how many partners it had among them
   */
  private def retract(delta: KeyDelta[R], other: R): Int =
    joinWith(delta.side, delta.expired, other, delta.hadExpired, added = false)

  /**
   * Rows of the other side that stay, and whose only partner had expired and is deleted or replaced now. From
   * now on their partners are those that are held.
   */
  private def emitUnmarked(side: Side, key: Long): Unit = {
    val other = side.other
    val known = partners.has(other, key)
    for (one <- unmarked) {
      if (one.won == 0) outputDelta.emit(output.alone(other, one.row), added = isAlone(false))
      if (known) partners.put(other, key, rows.seen(other, one.row), one.won)
      stored.append(other, key, one.row, matched = false)
    }
    unmarked.clear()
  }

  /** The rows of the other side that stay and have no partner now, or had none before. */
  private def emitTransitions(side: Side, key: Long): Unit = {
    count(side, key, transitions.filterNot(_.counted))
    for (one <- transitions if one.stay == 0)
      outputDelta.emit(output.alone(side.other, one.row), added = isAlone(one.won > 0))
    transitions.clear()
  }

  /** How many of the rows match the other one; what they give together comes out. */
  private def joinWith(
      side: Side,
      some: ChangeBuffer[R],
      other: R,
      found: Array[Int],
      added: Boolean
  ): Int = {
    var all = 0
    var i = 0
    while (i < some.length) {
      if (pairs(side, some(i), other)) {
        all += 1
        found(i) += 1
        if (!joinType.leftOnly) outputDelta.emit(joined(side, some(i), other), added)
      }
      i += 1
    }
    all
  }

  /**
   * Finds out how many partners rows of the other side have among those of `side` that stay, in one walk. Most
   * have some, or the key has few rows: that is known soon. Of those that it takes longer for it is remembered.
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
          partners.put(side.other, key, rows.seen(side.other, one.row), one.stay + one.won)
    }

  /** One of the rows of a side that stay: mostly it is enough to know that a row still has a partner. */
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
      one = Option.when(candidates.hasNext)(rows.copy(side, candidates.next().row))
      candidates.close()
      looked = true
    }
  }

  private def joinEachOther(): Unit = {
    joinEach(ofRight.removed, ofRight.had, ofLeft.removed, ofLeft.had, added = false)
    joinEach(ofRight.added, ofRight.has, ofLeft.added, ofLeft.has, added = true)
    joinEach(ofRight.expired, ofRight.hadExpired, ofLeft.expired, ofLeft.hadExpired, added = false)
    retractRemoved(ofLeft, ofRight)
    retractRemoved(ofRight, ofLeft)
  }

  /** The expired rows of one side against the rows of the other that go as well. */
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
      ofRight: Array[Int],
      left: ChangeBuffer[R],
      ofLeft: Array[Int],
      added: Boolean
  ): Unit = {
    var i = 0
    while (i < right.length) {
      ofRight(i) += joinWith(Left, left, right(i), ofLeft, added)
      i += 1
    }
  }
}

private object ChangelogJoin {

  /** How many rows are looked at before it is worth while to remember what is found. */
  val ShortWalk = 64
}

/**
 * A row that stays, of which partners have come or gone.
 *
 * @param won how many have come; else some have gone
 * @param counted whether it is known that none stay
 */
private final class MatchTransition[R](val row: R, val won: Int, val counted: Boolean) {

  /** How many of its partners stay. */
  var stay = 0
}
