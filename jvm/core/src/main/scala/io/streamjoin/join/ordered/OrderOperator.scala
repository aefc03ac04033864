package io.streamjoin.join.ordered

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.{Side, Watermarks}
import io.streamjoin.state.JoinState

/**
 * How the operator reads the time by which rows are ordered.
 *
 * @tparam R a row
 */
trait OrderedRows[R] {

  def isTimeless(row: R): Boolean

  /** Of a row that has one. */
  def time(row: R): Long
}

/** What happened in one task, for the metrics. */
final class OrderCounters extends Serializable {
  private var late = 0L
  private var timeless = 0L
  private var freed = 0L

  def countLate(): Unit = late += 1
  def countNullTime(): Unit = timeless += 1
  def countFreed(): Unit = freed += 1

  /** Rows dropped because rows after them have come out already. */
  def lateRows: Long = late

  /** Rows without a time, which have no place in the order and come out at once. */
  def nullTimeRows: Long = timeless

  /** Rows that were held back by an earlier batch and came out. */
  def freedRows: Long = freed
}

/**
 * Holds the rows of one partition of a stream back until nothing can come any more that belongs before
 * them. What comes out of all partitions between two limits, sorted, continues what came out before.
 *
 * {{{
 *   limit of the batch before        limit of this batch
 *          |                                |
 *   late   |   come out, to be sorted       |   held back
 * }}}
 *
 *  1. A row is late if its time is below the limit of the batch before: it is dropped and counted.
 *  1. A row comes out in the batch whose limit reaches it. The limit is a time below which no row will
 *     come: a row ''at'' it comes out too, for what is still to come is not smaller. With
 *     further sort keys a row at the limit waits, for a row of its time that sorts before it may come.
 *  1. A row without a time comes out at once.
 *
 * Rule R20 of `docs/internals/rules.md`.
 *
 * Sources: Flink SQL, `ORDER BY` a time attribute (StreamExecTemporalSort), which drops late rows alike;
 * SQLstream s-Server, "Streaming Joins", whose rows come out at the bound. Not thread-safe.
 *
 * @param tied whether rows of one time are sorted further
 * @param state the rows held back, all of them [[OrderOperator.BufferSide]]
 * @tparam R a row
 */
final class OrderOperator[R](
    rows: OrderedRows[R],
    tied: Boolean,
    state: JoinState[R],
    val counters: OrderCounters
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

  /** The limit that is to be stored with the rows. */
  def limit: Long = now

  /** Whether the row comes out at once; it is dropped or held back otherwise. */
  def passes(row: R): Boolean =
    if (rows.isTimeless(row)) {
      counters.countNullTime()
      true
    } else {
      val time = rows.time(row)
      if (time < before) {
        counters.countLate()
        false
      } else if (isReached(time)) true
      else {
        limits(0) = time
        state.append(BufferSide, 0L, time, limits, row, matched = false)
        false
      }
    }

  /** The rows of earlier batches that come out, in no order; must be read to its end. */
  def release(): Iterator[R] =
    if (now == Watermarks.Unknown) Iterator.empty
    else {
      state.evict(BufferSide, Array(before), Array(below(now))).map { evicted =>
        counters.countFreed()
        evicted.row
      }
    }

  private def isReached(time: Long): Boolean = now != Watermarks.Unknown && time < below(now)

  /** Times below it come out. */
  private def below(limit: Long): Long =
    if (limit == Watermarks.Unknown || tied) limit else Saturated.add(limit, 1)
}

object OrderOperator {

  /** The side of the state on which rows are held back; the other is empty. */
  val BufferSide: Side = Side.Left
}
