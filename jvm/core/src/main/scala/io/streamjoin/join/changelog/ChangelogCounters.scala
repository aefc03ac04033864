package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/** Counters of one task, for the metrics. */
final class ChangelogCounters extends Serializable {
  import ChangelogCounters._

  private val bySide = Array.ofDim[Long](2, Count.values.length)
  private var cancelledOutput = 0L
  private var out = 0L

  private[changelog] def count(side: Side, what: Count, rows: Long = 1L): Unit =
    bySide(side.index)(what.slot) += rows

  private[changelog] def countCancelledOutput(rows: Long): Unit = cancelledOutput += rows
  private[changelog] def countOutput(rows: Long): Unit = out += rows

  def rows(side: Side, what: Count): Long = bySide(side.index)(what.slot)

  /** Updates that were suppressed because both images are equal in the required columns. */
  def suppressedUpdates: Long = cancelledOutput

  /** Emitted changes. */
  def changesOut: Long = out
}

object ChangelogCounters {

  /** @param name of the metric, without the side */
  sealed abstract class Count(val name: String, private[changelog] val slot: Int)
      extends Serializable

  /** Stored rows. */
  case object Inserted extends Count("insertedRows", 0)

  /** Rows that were deleted from the state. */
  case object Deleted extends Count("deletedRows", 1)

  /** Changes that others of their batch cancel, or that change nothing. */
  case object Cancelled extends Count("cancelledRows", 2)

  /** Deletes of rows that are not stored, and cannot have expired: ignored. */
  case object Unknown extends Count("unknownRetractions", 3)

  /** Changes with a lower sequence than the stored row: ignored. */
  case object Stale extends Count("staleRows", 4)

  /** Rows that expired by `state_ttl`. */
  case object Expired extends Count("expiredRows", 5)

  /** Changes that are late: ignored. */
  case object Late extends Count("lateRows", 6)

  /** Rows that were evicted by watermarks: no change of them can arrive. */
  case object Evicted extends Count("evictedRows", 7)

  /** Deletes of rows that have expired by `state_ttl`: applied to the stored partners. */
  case object RetractedExpired extends Count("retractedExpiredRows", 8)

  object Count {
    val values: Seq[Count] =
      Seq(Inserted, Deleted, Cancelled, Unknown, Stale, Expired, Late, Evicted, RetractedExpired)
  }
}
