package io.streamjoin.join.changelog

import io.streamjoin.model.Side
import io.streamjoin.state.{JoinState, Probed}

import ChangelogCounters.{Cancelled, Count, Inserted, Late}

/**
 * The inner join of two inputs whose rows only come and are told apart by nothing. It gives what
 * [[ChangelogJoin]] gives, and holds the same rows in the same places; as nothing is ever taken back, it needs
 * neither the changes of a join key together nor those of a row:
 *
 * {{{
 *   a row comes --> late: ignored
 *               --> can match nothing: ignored
 *               --> held from now on, and joined with each row of the other side that is held by now
 * }}}
 *
 * So a pair comes out with the later of its two rows, once. One instance is one partition in one batch, and a state
 * may go from one of the two operators to the other between batches. Not thread-safe.
 *
 * @tparam R a row of either input
 * @tparam O a row of the output
 */
final class AppendOnlyJoin[R, O](
    rows: ChangelogRows[R],
    output: ChangelogOutput[R, O],
    state: JoinState[R],
    val counters: ChangelogCounters
) extends Expiring {

  private val stored = new StoredRows[R](rows, state)

  /**
   * A row comes.
   *
   * @param key a hash of its join key; equal keys have equal hashes, the condition tells the rest
   * @return the pairs that it is in, as inserts. To be read before the next call, and while the row stays as it is
   */
  def insert(side: Side, key: Long, row: R): Iterator[Changed[O]] =
    if (rows.late(side, row)) ignored(side, Late)
    else if (!rows.joinable(side, row)) ignored(side, Cancelled)
    else {
      counters.count(side, Inserted)
      stored.append(side, key, row, matched = false)
      new Pairs(side, row, state.probe(side.other, key, Long.MinValue, Long.MaxValue))
    }

  private def ignored(side: Side, why: Count): Iterator[Changed[O]] = {
    counters.count(side, why)
    Iterator.empty
  }

  override def expire(side: Side, before: Array[Long], now: Array[Long], why: Count): Unit =
    counters.count(side, why, stored.discard(side, before, now))

  /** What comes out of a row and those of the other side. */
  private final class Pairs(side: Side, row: R, others: Probed[R]) extends Iterator[Changed[O]] {
    private var found: Option[O] = find()

    override def hasNext: Boolean = found.nonEmpty

    override def next(): Changed[O] = {
      val pair = Changed(ChangeKind.Insert, found.get)
      counters.countOutput(1L)
      found = find()
      pair
    }

    private def find(): Option[O] = {
      var pair = Option.empty[O]
      while (pair.isEmpty && others.hasNext) {
        val other = others.next().row
        pair = if (side == Side.Left) joined(row, other) else joined(other, row)
      }
      if (pair.isEmpty) others.close()
      pair
    }

    private def joined(left: R, right: R): Option[O] =
      if (rows.matches(left, right)) output.joined(left, right) else None
  }
}
