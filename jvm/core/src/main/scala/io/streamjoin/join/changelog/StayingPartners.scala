package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.model.Side
import io.streamjoin.state.{JoinState, Probed}

/**
 * Partners of rows of one side among the unchanged rows of the other, which stay in the state of a
 * join key.
 */
private[changelog] final class StayingPartners[R](
    rows: ChangelogRows[R],
    state: JoinState[R],
    partners: PartnerCounts
) {
  import StayingPartners._

  private var side: Side = _
  private var key = 0L
  private var looked = false
  private var one: Option[R] = None

  /** @param side the side whose rows stay */
  def begin(side: Side, key: Long): Unit = {
    this.side = side
    this.key = key
    looked = false
  }

  /** Whether some row is a partner. Mostly it is enough to know that a row still has one. */
  def matches(other: R): Boolean = {
    if (!looked) look()
    one.exists(rows.pairs(side, _, other))
  }

  private def look(): Unit = {
    val candidates = probe()
    one = Option.when(candidates.hasNext)(rows(side).copy(candidates.next().row))
    candidates.close()
    looked = true
  }

  /**
   * Counts the partners of several rows, in one walk. Most have some, or the key has few rows: then
   * the walk is short. After a long walk the number is cached.
   */
  def count(transitions: mutable.ArrayBuffer[MatchTransition[R]]): Unit =
    if (transitions.nonEmpty) {
      var walked = 0
      val candidates = probe()
      while (transitions.nonEmpty && candidates.hasNext) {
        val row = candidates.next().row
        for (one <- transitions if rows.pairs(side, row, one.row)) one.stay += 1
        walked += 1
        if (walked <= ShortWalk) transitions.filterInPlace(_.stay == 0)
      }
      candidates.close()
      if (walked > ShortWalk)
        for (one <- transitions)
          partners.put(side.other, key, rows(side.other).seen(one.row), one.stay + one.won)
    }

  private def probe(): Probed[R] = state.probe(side, key, Long.MinValue, Long.MaxValue)
}

private object StayingPartners {

  /** Rows that are read before the result is worth caching. */
  private val ShortWalk = 64
}

/**
 * Match-count transition: an unchanged row of which partners were inserted or deleted.
 *
 * @param won how many were inserted; else some were deleted
 * @param counted whether it is known that no partner is unchanged
 * @param outlived whether it has a result of a partner that has expired, by its key
 */
private[changelog] final class MatchTransition[R](
    val row: R,
    val won: Int,
    val counted: Boolean,
    val outlived: Boolean
) {

  /** The number of its unchanged partners. */
  var stay = 0
}
