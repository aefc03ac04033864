package io.streamjoin.join.eventtime

import io.streamjoin.model.Side

/** Counters of one task, for the metrics. */
final class JoinCounters extends Serializable {
  private val late = new Array[Long](2)
  private val evicted = new Array[Long](2)
  private val timeless = new Array[Long](2)
  private val input = new Array[Long](2)
  private var padded = 0L
  private var joined = 0L
  private var looked = 0L
  private var met = 0L
  private var tooLate = Long.MaxValue
  private var tooEarly = Long.MaxValue

  def countInput(side: Side): Unit = input(side.index) += 1
  def countJoined(): Unit = joined += 1
  def countLate(side: Side): Unit = late(side.index) += 1
  def countEvicted(side: Side, rows: Long): Unit = evicted(side.index) += rows
  def countNullTime(side: Side): Unit = timeless(side.index) += 1
  def countNullPadded(): Unit = padded += 1

  def countLookedInto(metKey: Boolean): Unit = {
    looked += 1
    if (metKey) met += 1
  }

  /** @param by how far the time of the right row is beyond the bounds; negative: before them */
  def countMiss(by: Long): Unit =
    if (by >= 0) tooLate = math.min(tooLate, by) else tooEarly = math.min(tooEarly, -by)

  /** Rows that arrived, including late ones. */
  def inputRows(side: Side): Long = input(side.index)

  /** Pairs that were joined; of a semi or anti join, left rows that have met a partner. */
  def joinedRows: Long = joined

  /** Rows without a partner that were analyzed, see [[NearMissStats]]. */
  def lookedIntoRows: Long = looked

  /** Of these, rows whose key the other input has. */
  def keyMetRows: Long = met

  /**
   * By how little the right row of the closest pair of one key was too late; none: no such
   * pair.
   */
  def closestTooLate: Option[Long] = Option.when(tooLate != Long.MaxValue)(tooLate)

  /** The same for pairs whose right row was too early. */
  def closestTooEarly: Option[Long] = Option.when(tooEarly != Long.MaxValue)(tooEarly)

  /** Rows dropped because they were below a watermark. */
  def lateRows(side: Side): Long = late(side.index)

  /** Rows that were evicted because no later row can match them. */
  def evictedRows(side: Side): Long = evicted(side.index)

  /** Rows that match nothing because a time in a bound is null, unless a join below padded it. */
  def nullTimeRows(side: Side): Long = timeless(side.index)

  /** Rows emitted without a match. */
  def nullPaddedRows: Long = padded
}

/**
 * The statistics that one task of a join collects.
 *
 * @param lags of the columns whose watermark is the largest time minus a lag, that lag; disorder is
 *   measured by it, see [[Disorder]]
 * @param load takes in the keys of rows that may match; none: not required
 */
final case class JoinStats(
    counters: JoinCounters,
    lags: Map[Int, Long] = Map.empty,
    load: Option[KeyLoad] = None
)
