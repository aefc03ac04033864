package org.apache.spark.sql.streamjoin.physical.changelog

import java.lang.ref.SoftReference
import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.streamjoin.run.RunScope
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.join.changelog.PartnerCounts

/**
 * The partners that changelog joins have counted, between the batches of a query, in this process and for as long
 * as it has memory to spare. They count of one version of a partition: whoever has another begins anew, and so
 * do tasks that run a batch again.
 */
private[changelog] object RememberedPartners {

  private final case class Place(checkpoint: String, operator: Long, partition: Int)

  private final class Kept(val version: Long, val counts: PartnerCounts)

  private type Counts = AtomicReference[SoftReference[Kept]]

  private def of(info: StatefulOperatorStateInfo, partition: Int): Counts =
    RunScope.of(info.queryRunId)
      .kept(Place(info.checkpointLocation, info.operatorId, partition))(new Counts)

  /** Those of the version with which a batch begins; nobody else has them meanwhile. */
  def take(info: StatefulOperatorStateInfo, partition: Int): PartnerCounts =
    Option(of(info, partition).getAndSet(null))
      .flatMap(reference => Option(reference.get))
      .filter(_.version == info.storeVersion)
      .fold(new PartnerCounts)(_.counts)

  /** Those of the version that the batch has made. */
  def give(info: StatefulOperatorStateInfo, partition: Int, counts: PartnerCounts): Unit =
    if (!counts.isEmpty)
      of(info, partition).set(new SoftReference(new Kept(info.storeVersion + 1, counts)))
}
