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
 * A row that leaves the state by its age takes nothing back. By watermarks it leaves once neither a change of
 * its own nor one of a partner can come that is not late: with the bounds of the condition
 *
 * {{{
 *   time of the row < min(watermark of this time, largest of (watermark - slack) of the other input)
 * }}}
 *
 * which is the watermark that the column has behind an event-time join, and here. It is noted at the partners that come out
 * alone otherwise ([[io.streamjoin.state.BufferedRow.matched]]), so that they do not when they have
 * lost it.
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
) {
  import ChangelogJoin._

  private val effects = new Effects[O](output, counters)
  private val changes = new NetChanges[R](rows, state, counters, keeps, forgets)

  /** A row that can match nothing is of no use where it neither comes out alone nor tells of its key. */
  private def keeps(side: Side, row: R): Boolean =
    joinType.preserves(side) || rows.joinable(side, row) || rows.remembered(side, row)

  /** Whether rows of this side note that a partner has left the state. */
  private def forgets(side: Side): Boolean = depends(side) && rows.limitCount(side.other) > 0

  /** Whether a row of this side comes or goes with its first and last partner. */
  private def depends(side: Side): Boolean =
    joinType.preserves(side) || joinType.leftOnly && side == Left

  /**
   * The changes of one join key.
   *
   * @param key a hash of it; equal keys have equal hashes, the condition tells the rest
   * @return what comes out; removals first
   */
  def process(
      key: Long,
      left: collection.Seq[Change[R]],
      right: collection.Seq[Change[R]]
  ): Iterator[Changed[O]] = {
    val l = changes.of(Left, key, left)
    val r = changes.of(Right, key, right)
    if (!l.isEmpty || !r.isEmpty) {
      val (ofLeft, ofRight) = (new Moving(Left, key, l), new Moving(Right, key, r))
      partners.begin()
      meetKept(key, ofLeft)
      meetKept(key, ofRight)
      meetEachOther(ofLeft, ofRight)
      ofLeft.finish()
      ofRight.finish()
      partners.end(state.size)
    }
    effects.settle()
  }

  /**
   * Takes rows out of which a limit is below its clock.
   *
   * @param side a side whose rows have limits
   * @param before the clocks, by limit, when this was done last
   * @param now the same now
   * @param why as what they count
   */
  def expire(side: Side, before: Array[Long], now: Array[Long], why: Count): Unit = {
    if (depends(side.other)) {
      state.evict(side, before, now).foreach { gone =>
        counters.count(side, why)
        note(side, gone.key, rows.copy(side, gone.row))
      }
    } else {
      val held = state.size(side)
      state.discard(side, before, now)
      counters.count(side, why, held - state.size(side))
    }
  }

  /** Notes at the partners of a row that has expired that they had one. */
  private def note(side: Side, key: Long, gone: R): Unit = {
    val others = state.probe(side.other, key, Long.MinValue, Long.MaxValue)
    others.foreach { partner =>
      if (!partner.matched && pairs(side, gone, partner.row)) {
        others.setMatched()
      }
    }
  }

  private def pairs(side: Side, row: R, other: R): Boolean =
    if (side == Left) rows.matches(row, other) else rows.matches(other, row)

  private def joined(side: Side, row: R, other: R): Option[O] =
    if (side == Left) output.joined(row, other) else output.joined(other, row)

  /** The rows of one side that go and come, and which of them had or have a partner. */
  private final class Moving(val side: Side, key: Long, net: Net[R]) {
    val removed: collection.IndexedSeq[R] = net.removed.map(_.row)
    val added: collection.IndexedSeq[R] = net.added

    /** How many partners they had: a mark stands for one that has left. */
    val had: Array[Int] = Array.tabulate(removed.length)(i => if (net.removed(i).matched) 1 else 0)

    /** How many they have. */
    val has: Array[Int] = new Array[Int](added.length)

    /** Whether all of them have been counted. */
    var counted: Boolean = true

    /** Whether one partner is as good as many. */
    private val suffices = joinType.leftOnly && !partners.has(side, key)

    def isEmpty: Boolean = removed.isEmpty && added.isEmpty

    /** Whether there is nothing more to find out of them. */
    def settled: Boolean =
      suffices && had.forall(_ > 0) && has.forall(_ > 0)

    def finish(): Unit = {
      if (depends(side)) {
        for (i <- removed.indices if isAlone(had(i) > 0))
          output.alone(side, removed(i)).foreach(effects.remove)
        for (i <- added.indices if isAlone(has(i) > 0))
          output.alone(side, added(i)).foreach(effects.add)
        if (partners.has(side, key)) remember()
      }
      added.foreach(changes.append(side, key, _, matched = false))
      counters.count(side, Inserted, added.length.toLong)
    }

    private def remember(): Unit =
      for (i <- added.indices) {
        val seen = rows.seen(side, added(i))
        if (counted) partners.put(side, key, seen, has(i)) else partners.forget(side, key, seen)
      }
  }

  /** Whether a row comes out by itself, by whether it has a partner. */
  private def isAlone(partner: Boolean): Boolean =
    if (joinType == JoinType.LeftSemi) partner else !partner

  /** The rows of one side that go and come, against those of the other that stay. */
  private def meetKept(key: Long, moving: Moving): Unit = {
    val (side, other) = (moving.side, moving.side.other)
    if (!moving.isEmpty) {
      val kept = state.probe(other, key, Long.MinValue, Long.MaxValue)
      val turned = mutable.ArrayBuffer.empty[Turned[R]]
      val known = partners.has(other, key)
      while ((depends(other) || !moving.settled) && kept.hasNext) {
        val partner = kept.next()
        val row = partner.row
        val lost = meet(side, moving.removed, row, moving.had, effects.remove)
        val won = meet(side, moving.added, row, moving.has, effects.add)
        if (depends(other) && lost + won > 0 && !partner.matched) {
          val stay =
            if (known) partners.change(other, key, rows.seen(other, row), lost, won) else None
          if ((lost > 0) != (won > 0) && stay.forall(_ == 0))
            turned += new Turned(rows.copy(other, row), won, stay.nonEmpty)
        }
      }
      moving.counted = !kept.hasNext
      kept.close()
      count(side, key, turned.filterNot(_.counted))
      for (one <- turned if one.stay == 0) {
        output.alone(other, one.row).foreach(if (isAlone(one.won > 0)) effects.add
        else effects.remove)
      }
    }
  }

  /** How many of the rows match the other one; what they give together goes to `effect`. */
  private def meet(
      side: Side,
      some: collection.IndexedSeq[R],
      other: R,
      found: Array[Int],
      effect: O => Unit
  ): Int = {
    var all = 0
    var i = 0
    while (i < some.length) {
      if (pairs(side, some(i), other)) {
        all += 1
        found(i) += 1
        if (!joinType.leftOnly) joined(side, some(i), other).foreach(effect)
      }
      i += 1
    }
    all
  }

  /**
   * Finds out how many partners rows of the other side have among those of `side` that stay, in one walk. Most
   * have some, or the key has few rows: that is known soon. Of those that it takes longer for it is remembered.
   */
  private def count(side: Side, key: Long, turned: mutable.ArrayBuffer[Turned[R]]): Unit =
    if (turned.nonEmpty) {
      var walked = 0
      val kept = state.probe(side, key, Long.MinValue, Long.MaxValue)
      while (turned.nonEmpty && kept.hasNext) {
        val row = kept.next().row
        for (one <- turned if pairs(side, row, one.row)) one.stay += 1
        walked += 1
        if (walked <= ShortWalk) turned.filterInPlace(_.stay == 0)
      }
      kept.close()
      if (walked > ShortWalk)
        for (one <- turned)
          partners.put(side.other, key, rows.seen(side.other, one.row), one.stay + one.won)
    }

  private def meetEachOther(left: Moving, right: Moving): Unit = {
    for (i <- right.removed.indices)
      right.had(i) += meet(Left, left.removed, right.removed(i), left.had, effects.remove)
    for (i <- right.added.indices)
      right.has(i) += meet(Left, left.added, right.added(i), left.has, effects.add)
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
private final class Turned[R](val row: R, val won: Int, val counted: Boolean) {

  /** How many of its partners stay. */
  var stay = 0
}
