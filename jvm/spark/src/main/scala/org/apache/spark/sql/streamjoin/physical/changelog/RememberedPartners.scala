package org.apache.spark.sql.streamjoin.physical.changelog

import java.lang.ref.SoftReference
import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.streamjoin.run.RunScope
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.join.changelog.PartnerCounts

/**
 * Cache of partner counts of changelog joins, between the batches of a query in one process. Soft
 * references release it if memory is short. An entry is valid for one version of a partition. A
 * task for another version starts with an empty cache, and so does a task that runs a batch again.
 */
private[changelog] object RememberedPartners {

  private final case class Place(checkpoint: String, operator: Long, partition: Int)

  private final class Kept(val version: Long, val counts: PartnerCounts)

  private type Counts = AtomicReference[SoftReference[Kept]]

  private def of(info: StatefulOperatorStateInfo, partition: Int): Counts =
    RunScope.of(info.queryRunId)
      .kept(Place(info.checkpointLocation, info.operatorId, partition))(new Counts)

  /**
   * Removes and returns the counts of the version with which a batch begins. So no other task uses
   * them at the same time.
   */
  def take(info: StatefulOperatorStateInfo, partition: Int): PartnerCounts =
    Option(of(info, partition).getAndSet(null))
      .flatMap(reference => Option(reference.get))
      .filter(_.version == info.storeVersion)
      .fold(new PartnerCounts)(_.counts)

  /** Stores the counts for the version that the batch has committed. */
  def give(info: StatefulOperatorStateInfo, partition: Int, counts: PartnerCounts): Unit =
    if (!counts.isEmpty)
      of(info, partition).set(new SoftReference(new Kept(info.storeVersion + 1, counts)))
}
