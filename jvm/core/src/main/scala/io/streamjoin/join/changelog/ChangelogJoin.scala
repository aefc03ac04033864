package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.join.Count.{Evicted, Expired, Inserted, RetractedExpired, Unknown}
import io.streamjoin.join.Counters
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
 * A row that expires by `state_ttl` deletes no results, and from then on each change is computed as
 * if it had never been there. The mark of a row ([[io.streamjoin.state.BufferedRow.matched]]) shows
 * that it has results. So a delete of the expired row deletes its pairs with marked rows, and a
 * delete of a marked row whose partner has expired deletes the result of its key. These deletes do
 * not cancel with equal inserts, because the result may be another row:
 *
 * {{{
 *   12:00   +customer 1, Ann; +order 7    emits insert (7, Ann), marks both rows
 *   13:00   customer 1 expires            emits nothing
 *   13:05   +order 8                      emits insert (8, NULL)
 *   13:10   -customer 1                   order 7 is marked, and has no partner:
 *                                         emits delete (7, Ann), insert (7, NULL), as one update
 *                                         order 8 is not marked: it had no partner
 * }}}
 *
 * If the expiry of a row retracts its results ([[InputRows.retractsExpired]]), it is a delete, and
 * no mark is required.
 *
 * Watermarks evict a row once no change of it, and none of a partner, can arrive that is not
 * late. With the bounds of the condition this is
 *
 * {{{
 *   time of the row < min(watermark of this time, largest of (watermark - slack) of the other input)
 * }}}
 *
 * which is also the watermark of the column in the output. Its partners stay, and are never emitted
 * alone. So in a join that evicts rows by watermark, a mark has another meaning: a partner of the
 * row was evicted.
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
  private val outputDelta = new OutputDelta[O](output, counters)
  private val stored = new StoredRows[R](rows, state)
  private val changes = BySide.of[NetChanges[R]] { side =>
    val marks = rows(side).marksMatched ||
      joinType.notesMatches(side) && rows(side.other).limitCount > 0
    if (rows(side).keyed) new KeyedChanges[R](side, joinType, rows(side), stored, counters)
    else new CountedChanges[R](side, joinType, rows(side), stored, counters, marks)
  }

  private val retracted = BySide.of(_ => new RetractedRows[R])

  // of the current join key
  private val ofLeft = new KeyDelta[R](Left)
  private val ofRight = new KeyDelta[R](Right)
  private val transitions = mutable.ArrayBuffer.empty[MatchTransition[R]]
  private val staying = new StayingPartners[R](rows, state, partners)

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
    retracted.left.moveTo(key, ofLeft.removed)
    retracted.right.moveTo(key, ofRight.removed)
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

  override def expire(side: Side, before: Array[Long], now: Array[Long]): Unit =
    if (rows(side).retractsExpired) state.evict(side, before, now).foreach { expired =>
      counters.count(side, Expired)
      if (!rows(side).isTombstone(expired.row))
        retracted(side).add(expired.key, rows(side).copy(expired.row), expired.matched)
    }
    else if (partners.has(side.other)) state.evict(side, before, now).foreach { expired =>
      counters.count(side, Expired)
      partners.forget(side.other, expired.key)
    }
    else counters.count(side, Expired, state.discard(side, before, now))

  /**
   * The join keys of rows whose expiry is a delete. Each is to be processed in this batch, also
   * without other changes.
   */
  def retractedKeys: Iterable[Long] = retracted.left.keys ++ retracted.right.keys

  override def evict(side: Side, before: Array[Long], now: Array[Long]): Unit =
    if (joinType.notesMatches(side.other)) {
      state.evict(side, before, now).foreach { evicted =>
        counters.count(side, Evicted)
        note(side, evicted.key, rows(side).copy(evicted.row))
      }
    } else counters.count(side, Evicted, state.discard(side, before, now))

  /** Marks the partners of an evicted row. */
  private def note(side: Side, key: Long, evicted: R): Unit = {
    val others = state.probe(side.other, key, Long.MinValue, Long.MaxValue)
    others.foreach { partner =>
      if (!partner.matched && rows.pairs(side, evicted, partner.row)) {
        others.setMatched()
      }
    }
  }

  private def joined(side: Side, row: R, other: R): Option[O] =
    if (side == Left) output.joined(row, other) else output.joined(other, row)

  /** Whether a row is emitted alone, by whether it has a partner. */
  private def isAlone(partner: Boolean): Boolean =
    if (joinType == JoinType.LeftSemi) partner else !partner

  /** Emits the rows that are alone, and stores the inserted rows. */
  private def finish(key: Long, delta: KeyDelta[R]): Unit = {
    val side = delta.side
    delete(side, delta.removed, isStored = true)
    delete(side, delta.expired, isStored = false)
    if (joinType.notesMatches(side)) {
      insertAlone(side, delta.added)
      if (partners.has(side, key)) remember(key, delta)
    }
    val marks = rows(side).marksMatched
    var i = 0
    while (i < delta.added.length) {
      stored.append(side, key, delta.added(i), matched = marks && delta.added.partners(i) > 0)
      i += 1
    }
    counters.count(side, Inserted, delta.added.length.toLong)
  }

  /** Reports rows that were written again without a change, for a TTL above the join. */
  private def reportWritten(delta: KeyDelta[R]): Unit = {
    var i = 0
    while (i < delta.written.length) {
      outputDelta.rewrite(output.alone(delta.side, delta.written(i)))
      i += 1
    }
  }

  private def insertAlone(side: Side, added: ChangeBuffer[R]): Unit = {
    var i = 0
    while (i < added.length) {
      if (isAlone(added.partners(i) > 0))
        outputDelta.emit(output.alone(side, added(i)), added = true)
      i += 1
    }
  }

  /**
   * Deletes the results of rows beside their pairs: the row alone, or, if its partner has expired,
   * the result of its key.
   *
   * @param isStored whether the rows were stored; else they have expired
   */
  private def delete(side: Side, some: ChangeBuffer[R], isStored: Boolean): Unit = {
    val notes = joinType.notesMatches(side)
    val marks = rows(side).marksMatched
    var i = 0
    while (i < some.length) {
      val partner = some.partners(i) > 0
      val settled = some.isMarked(i) && !marks
      val outlived =
        if (isStored) !partner && marks && some.isMarked(i) else !partner || joinType.leftOnly
      val byKey = outlived && output.identifiedBy(side)
      val alone =
        if (!byKey && notes && isAlone(partner || settled)) output.alone(side, some(i)) else None
      if (byKey) outputDelta.deleteByKey(output.ofKey(side, some(i)))
      else outputDelta.emit(alone, added = false)
      if (!isStored)
        counters.count(side, if (partner || byKey || alone.nonEmpty) RetractedExpired else Unknown)
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
    val marksOther = rows(other).marksMatched
    val unmarksOther = unmarks(other)
    val known = partners.has(other, key)
    staying.begin(side, key)
    val candidates = state.probe(other, key, Long.MinValue, Long.MaxValue)
    while ((notesOther || unmarksOther || !delta.settled) && candidates.hasNext) {
      val partner = candidates.next()
      val row = partner.row
      // a row without a mark had no partner
      val expired =
        if (partner.matched || !marksOther)
          joinWith(side, delta.expired, row, added = false, expired = true)
        else 0
      val lost = joinWith(side, delta.removed, row, added = false)
      val won = joinWith(side, delta.added, row, added = true)
      val outlived = unmarksOther && partner.matched && expired + lost == 0
      if (marksOther && won > 0 && !partner.matched) candidates.setMatched()
      val changes = expired + lost + won > 0 && (marksOther || !partner.matched)
      if (changes && (notesOther || unmarksOther)) {
        val stay =
          if (known) partners.change(other, key, rows(other).seen(row), lost, won) else None
        val turns = (expired + lost > 0) != (won > 0) && (notesOther || won == 0)
        if (turns && stay.forall(_ == 0) && !(stay.isEmpty && staying.matches(row)))
          transitions += new MatchTransition(rows(other).copy(row), won, stay.nonEmpty, outlived)
      }
    }
    delta.counted = !candidates.hasNext
    candidates.close()
    if (transitions.nonEmpty) emitTransitions(side, key)
  }

  /**
   * Whether a row loses its mark with its last stored partner, because it has no other result: it
   * has one partner at a time, or is emitted once.
   */
  private def unmarks(side: Side): Boolean =
    rows(side).marksMatched && output.identifiedBy(side)

  /**
   * Emits unchanged rows of the other side that have lost their last partner, or found their
   * first.
   */
  private def emitTransitions(side: Side, key: Long): Unit = {
    staying.count(transitions.filterNot(_.counted))
    for (one <- transitions if one.stay == 0) {
      if (joinType.notesMatches(side.other)) {
        val added = isAlone(one.won > 0)
        if (one.outlived && !added) outputDelta.deleteByKey(output.ofKey(side.other, one.row))
        else outputDelta.emit(output.alone(side.other, one.row), added)
      }
      if (one.won == 0 && unmarks(side.other)) stored.unmark(side.other, key, one.row)
    }
    transitions.clear()
  }

  /**
   * Counts the rows that match the other one, and emits the pairs.
   *
   * @param expired whether the rows have expired. Since then, the other row may have changed, and the
   *   result has not
   */
  private def joinWith(
      side: Side,
      some: ChangeBuffer[R],
      other: R,
      added: Boolean,
      expired: Boolean = false
  ): Int = {
    val byKey = expired && output.identifiedBy(side)
    var all = 0
    var i = 0
    while (i < some.length) {
      if (rows.pairs(side, some(i), other)) {
        all += 1
        some.addPartners(i, 1)
        if (!joinType.leftOnly) {
          val pair = joined(side, some(i), other)
          if (byKey) outputDelta.deleteByKey(pair.getOrElse(output.ofKey(side, some(i))))
          else outputDelta.emit(pair, added)
        }
      }
      i += 1
    }
    all
  }

  private def joinEachOther(): Unit = {
    joinEach(ofRight.removed, ofLeft.removed, added = false)
    joinEach(ofRight.added, ofLeft.added, added = true)
    deletePairs(ofLeft.expired, ofRight)
    deletePairs(ofRight.expired, ofLeft)
  }

  /** Deletes the pairs of expired rows of one side with the deleted rows of the other. */
  private def deletePairs(expired: ChangeBuffer[R], others: KeyDelta[R]): Unit = {
    val marks = rows(others.side).marksMatched
    var i = 0
    while (!expired.isEmpty && i < others.removed.length) {
      if (others.removed.isMarked(i) || !marks) {
        val partners =
          joinWith(others.side.other, expired, others.removed(i), added = false, expired = true)
        others.removed.addPartners(i, partners)
      }
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
