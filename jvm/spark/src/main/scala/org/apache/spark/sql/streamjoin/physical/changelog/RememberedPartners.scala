package org.apache.spark.sql.streamjoin.physical.changelog

import java.lang.ref.SoftReference
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.join.changelog.PartnerCounts

/**
 * Cache of partner counts of changelog joins, between the batches of a query in one process. Soft
 * references release it if memory is short. An entry is valid for one version of a partition. A
 * task for another version starts with an empty cache, and so does a task that runs a batch again.
 */
private[changelog] object RememberedPartners {

  private final class Kept(val version: Long, val counts: PartnerCounts)

  /** By partition. */
  private type Counts = ConcurrentHashMap[Int, SoftReference[Kept]]

  private val remembered = new PerOperator[Counts]

  /**
   * Removes and returns the counts of the version with which a batch begins. So no other task uses
   * them at the same time.
   */
  def take(info: StatefulOperatorStateInfo, partition: Int): PartnerCounts =
    Option(remembered.of(info)(new Counts).remove(partition))
      .flatMap(reference => Option(reference.get))
      .filter(_.version == info.storeVersion)
      .fold(new PartnerCounts)(_.counts)

  /** Stores the counts for the version that the batch has committed, unless the run has ended. */
  def give(info: StatefulOperatorStateInfo, partition: Int, counts: PartnerCounts): Unit =
    for (places <- remembered.find(info) if !counts.isEmpty)
      places.put(partition, new SoftReference(new Kept(info.storeVersion + 1, counts)))
}
