package io.streamjoin.join

import io.streamjoin.model.Side

/** Counters of one task, for the metrics. */
final class Counters extends Serializable {
  private val counts = Array.ofDim[Long](2, Count.Slots)
  private var tooLate = Long.MaxValue
  private var tooEarly = Long.MaxValue

  private[join] def count(side: Side, what: Count, rows: Long = 1L): Unit =
    counts(side.index)(what.slot) += rows

  /** Counts rows that are not of one side. */
  private[join] def count(what: Count, rows: Long): Unit = count(Side.Left, what, rows)

  /** @param by how far the time of the right row is beyond the bounds; negative: before them */
  private[join] def countMiss(by: Long): Unit =
    if (by >= 0) tooLate = math.min(tooLate, by) else tooEarly = math.min(tooEarly, -by)

  def rows(side: Side, what: Count): Long = counts(side.index)(what.slot)

  /** The rows of both sides, or those that are not of one side. */
  def rows(what: Count): Long = counts(0)(what.slot) + counts(1)(what.slot)

  /**
   * By how little the right row of the closest pair of one key was too late; none: no such
   * pair.
   */
  def closestTooLate: Option[Long] = Option.when(tooLate != Long.MaxValue)(tooLate)

  /** The same for pairs whose right row was too early. */
  def closestTooEarly: Option[Long] = Option.when(tooEarly != Long.MaxValue)(tooEarly)
}

/** @param name of the metric, without the side */
sealed abstract class Count(val name: String, private[join] val slot: Int) extends Serializable {

  /** The name of the metric of a side. */
  def of(side: Side): String = name + side.name.capitalize
}

object Count {

  /** Rows that are late: dropped, or emitted as late. Late changes are ignored. */
  case object Late extends Count("lateRows", 0)

  /** Rows that left the state by watermarks: no later row can match them, and no change of them. */
  case object Evicted extends Count("evictedRows", 1)

  /** Rows without a time that match nothing, unless a join below padded them. */
  case object NullTime extends Count("nullTimeRows", 2)

  /** Rows or changes that arrived, including late ones. */
  case object Input extends Count("inputRows", 3)

  /** Pairs that were joined; of a semi or anti join, left rows that have met a partner. */
  case object Joined extends Count("joinedRows", 4)

  /** Rows emitted without a match. */
  case object NullPadded extends Count("nullPaddedRows", 5)

  /** Rows without a partner that were analyzed for near misses. */
  case object LookedInto extends Count("lookedIntoRows", 6)

  /** Of these, rows whose key the other input has. */
  case object KeyMet extends Count("keyMetRows", 7)

  /** Stored rows. */
  case object Inserted extends Count("insertedRows", 8)

  /** Rows that were deleted from the state. */
  case object Deleted extends Count("deletedRows", 9)

  /** Changes that others of their batch cancel, or that change nothing. */
  case object Cancelled extends Count("cancelledRows", 10)

  /** Deletes of rows that are not stored, of which nothing can be retracted: ignored. */
  case object Unknown extends Count("unknownRetractions", 11)

  /** Changes with a lower sequence than the stored row: ignored. */
  case object Stale extends Count("staleRows", 12)

  /** Rows that expired by `state_ttl`. */
  case object Expired extends Count("expiredRows", 13)

  /** Deletes of rows that have expired by `state_ttl`: their results are deleted. */
  case object RetractedExpired extends Count("retractedExpiredRows", 14)

  /** Updates that were suppressed because both images are equal in the required columns. */
  case object Suppressed extends Count("suppressedUpdates", 15)

  /** Emitted changes. */
  case object Emitted extends Count("changesOut", 16)

  /** What a changelog join counts by side. */
  val ofChanges: Seq[Count] = Input +:
    Seq(Inserted, Deleted, Cancelled, Unknown, Stale, Expired, Late, Evicted, RetractedExpired)

  private[join] val Slots = 17
}
