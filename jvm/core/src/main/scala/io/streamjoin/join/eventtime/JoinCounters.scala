package io.streamjoin.join.eventtime

import io.streamjoin.model.Side

/** What happened in one task, for the metrics. */
final class JoinCounters extends Serializable {
  private val late = new Array[Long](2)
  private val evicted = new Array[Long](2)
  private val timeless = new Array[Long](2)
  private var padded = 0L

  private def slot(side: Side): Int = if (side == Side.Left) 0 else 1

  def countLate(side: Side): Unit = late(slot(side)) += 1
  def countEvicted(side: Side, rows: Long): Unit = evicted(slot(side)) += rows
  def countNullTime(side: Side): Unit = timeless(slot(side)) += 1
  def countNullPadded(): Unit = padded += 1

  /** Rows dropped because they were below a watermark. */
  def lateRows(side: Side): Long = late(slot(side))

  /** Rows that were buffered and went because nothing can match them any more. */
  def evictedRows(side: Side): Long = evicted(slot(side))

  /**
   * Rows that could match nothing because a time that the condition bounds is null, other than where a
   * join below found no match.
   */
  def nullTimeRows(side: Side): Long = timeless(slot(side))

  /** Rows emitted without a match. */
  def nullPaddedRows: Long = padded
}
