package io.streamjoin.join.ordered

import io.streamjoin.bounds.Saturated
import io.streamjoin.join.Count.{Evicted, Late, NullTime}
import io.streamjoin.join.Counters
import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.state.JoinState

/**
 * Accessor of the time by which rows are ordered.
 *
 * @tparam R a row
 */
trait OrderedRows[R] {

  def isTimeless(row: R): Boolean

  /** The time of a row that has one. */
  def time(row: R): Long
}

/**
 * Operator of ordered output: buffers the rows of one partition of a stream until no earlier
 * row can arrive. The rows that all partitions emit between two limits, once sorted, continue
 * the rows emitted before.
 *
 * {{{
 *   limit of the batch before        limit of this batch
 *          |                                |
 *   late   |   emitted, to be sorted        |   buffered
 * }}}
 *
 *   1. A row is late if its time is below the limit of the batch before: it is dropped and
 *     counted.
 *   1. A row is emitted in the batch whose limit reaches it. No later row has a time below the
 *     limit. A row ''at'' the limit is emitted, too, for later rows are not smaller. With
 *     further sort keys it is buffered: a later row of its time may sort before it.
 *   1. A row without a time is emitted at once.
 *
 * Example:
 *
 * {{{
 *   batch 1   limit 12:00   row 12:03 is buffered; rows 11:58 and 12:00 are emitted
 *   batch 2   limit 12:05   row 12:04 and the buffered 12:03 are emitted, as 12:03, 12:04
 *             row 11:59 is below 12:00: late, dropped
 * }}}
 *
 * Rule R20 of `docs/internals/rules.md`.
 *
 * Sources: Flink SQL, `ORDER BY` a time attribute (StreamExecTemporalSort), which drops late
 * rows, too; SQLstream s-Server, "Streaming Joins", which emits rows at the bound. Not
 * thread-safe.
 *
 * @param tied whether rows of one time are sorted further
 * @param state the buffered rows, all of them on [[OrderOperator.BufferSide]]
 * @tparam R a row
 */
final class OrderOperator[R](
    rows: OrderedRows[R],
    tied: Boolean,
    state: JoinState[R],
    val counters: Counters
) {
  import OrderOperator.BufferSide

  private var before = Watermarks.Unknown
  private var now = Watermarks.Unknown
  private val limits = new Array[Long](1)

  /**
   * Begins a batch.
   *
   * @param before the limit of the batch before
   * @param now the limit of this batch; one that is lower than `before` changes nothing
   */
  def begin(before: Long, now: Long): Unit = {
    this.before = before
    this.now = math.max(before, now)
  }

  /** The limit to store with the rows. */
  def limit: Long = now

  /** Whether the row is emitted at once; otherwise it is dropped or buffered. */
  def passes(row: R): Boolean =
    if (rows.isTimeless(row)) {
      counters.count(NullTime, 1L)
      true
    } else {
      val time = rows.time(row)
      if (time < before) {
        counters.count(Late, 1L)
        false
      } else if (isReached(time)) true
      else {
        limits(0) = time
        state.append(BufferSide, 0L, time, limits, row, matched = false)
        false
      }
    }

  /** The rows of earlier batches that are emitted now, in no order; must be read to its end. */
  def release(): Iterator[R] =
    if (now == Watermarks.Unknown) Iterator.empty
    else {
      state.evict(BufferSide, Array(before), Array(below(now))).map { evicted =>
        counters.count(Evicted, 1L)
        evicted.row
      }
    }

  private def isReached(time: Long): Boolean = now != Watermarks.Unknown && time < below(now)

  /** Rows with lower times are emitted. */
  private def below(limit: Long): Long =
    if (limit == Watermarks.Unknown || tied) limit else Saturated.add(limit, 1)
}

object OrderOperator {

  /** The side of the state that has the buffered rows; the other one is empty. */
  val BufferSide: Side = Side.Left
}
