package io.streamjoin.join.changelog

import io.streamjoin.join.Count.{Cancelled, Emitted, Evicted, Expired, Input, Inserted, Late}
import io.streamjoin.join.{Count, Counters}
import io.streamjoin.model.Side
import io.streamjoin.state.JoinState

/**
 * Operator of the inner join of two append-only inputs without keys. It emits what
 * [[ChangelogJoin]] emits, and stores the same rows in the same places. Nothing is ever
 * deleted, so it needs neither the changes of a join key together nor those of a row:
 *
 * {{{
 *   a row --> late: ignored
 *         --> can match nothing: ignored
 *         --> stored, and joined with each stored row of the other side
 * }}}
 *
 * So a pair is emitted with the later of its two rows, once. One instance is one partition in
 * one batch. Between batches a state may pass from one of the two operators to the other. Not
 * thread-safe.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
final class AppendOnlyJoin[R, O](
    rows: ChangelogRows[R],
    output: ChangelogOutput[R, O],
    state: JoinState[R],
    val counters: Counters
) extends Expiring {

  private val stored = new StoredRows[R](rows, state)

  /**
   * A row arrives.
   *
   * @param key a hash of its join key; equal keys have equal hashes, the condition decides the
   *   rest
   * @return its pairs, as inserts; to be read before the next call, while the row is unchanged
   */
  def insert(side: Side, key: Long, row: R): Iterator[Changed[O]] = {
    counters.count(side, Input)
    if (rows(side).late(row)) ignored(side, Late)
    else if (!rows(side).joinable(row)) ignored(side, Cancelled)
    else {
      counters.count(side, Inserted)
      stored.append(side, key, row, matched = false)
      state.probe(side.other, key, Long.MinValue, Long.MaxValue).flatMap { partner =>
        pair(side, row, partner.row)
      }
    }
  }

  private def pair(side: Side, row: R, other: R): Option[Changed[O]] = {
    val joined =
      if (!rows.pairs(side, row, other)) None
      else if (side == Side.Left) output.joined(row, other)
      else output.joined(other, row)
    if (joined.nonEmpty) counters.count(Emitted, 1L)
    joined.map(Changed(ChangeKind.Insert, _))
  }

  private def ignored(side: Side, why: Count): Iterator[Changed[O]] = {
    counters.count(side, why)
    Iterator.empty
  }

  override def expire(side: Side, before: Array[Long], now: Array[Long]): Unit =
    counters.count(side, Expired, state.discard(side, before, now))

  override def evict(side: Side, before: Array[Long], now: Array[Long]): Unit =
    counters.count(side, Evicted, state.discard(side, before, now))
}
