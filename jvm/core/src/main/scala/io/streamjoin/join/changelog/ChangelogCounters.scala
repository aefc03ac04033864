package io.streamjoin.join.changelog

import io.streamjoin.model.Side

/** What happened in one task, for the metrics. */
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

  /** Rows that would have been taken back and given again, for they are equal in the columns asked for. */
  def suppressedUpdates: Long = cancelledOutput

  /** Rows that came out. */
  def changesOut: Long = out
}

object ChangelogCounters {

  /** @param name of the metric, without the side */
  sealed abstract class Count(val name: String, private[changelog] val slot: Int)
      extends Serializable

  /** Rows that are held from now on. */
  case object Inserted extends Count("insertedRows", 0)

  /** Rows that are held no more. */
  case object Deleted extends Count("deletedRows", 1)

  /** Changes that others of their batch have made void, or that changed nothing. */
  case object Cancelled extends Count("cancelledRows", 2)

  /** Removals of rows that are not held, and cannot have expired: ignored. */
  case object Unknown extends Count("unknownRetractions", 3)

  /** Changes older, by their sequence, than the row that is held: ignored. */
  case object Stale extends Count("staleRows", 4)

  /** Rows that left the state by `state_ttl`. */
  case object Expired extends Count("expiredRows", 5)

  /** Changes that are late: ignored. */
  case object Late extends Count("lateRows", 6)

  /** Rows that left the state by watermarks: nothing can change of them any more. */
  case object Evicted extends Count("evictedRows", 7)

  /** Removals of rows that have left the state by `state_ttl`: applied to the partners that are held. */
  case object RetractedExpired extends Count("retractedExpiredRows", 8)

  object Count {
    val values: Seq[Count] =
      Seq(Inserted, Deleted, Cancelled, Unknown, Stale, Expired, Late, Evicted, RetractedExpired)
  }
}
