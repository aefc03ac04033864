package org.apache.spark.sql.streamjoin.physical.changelog

import java.lang.ref.SoftReference
import java.util.UUID

import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.join.changelog.PartnerCounts

/**
 * The partners that changelog joins have counted, between the batches of a query, in this process and for as long
 * as it has memory to spare. They count of one version of a partition: whoever has another begins anew, and so
 * do tasks that run a batch again.
 */
private[changelog] object RememberedPartners {

  private final case class Place(run: UUID, checkpoint: String, operator: Long, partition: Int)

  private final class Kept(val version: Long, val counts: PartnerCounts)

  /** Those of queries that have ended go with the time. */
  private val Most = 1024

  private val places =
    new java.util.LinkedHashMap[Place, SoftReference[Kept]](16, 0.75f, true) {
      override def removeEldestEntry(
          eldest: java.util.Map.Entry[Place, SoftReference[Kept]]
      ): Boolean = size > Most
    }

  private def place(info: StatefulOperatorStateInfo, partition: Int) =
    Place(info.queryRunId, info.checkpointLocation, info.operatorId, partition)

  /** Those of the version with which a batch begins; nobody else has them meanwhile. */
  def take(info: StatefulOperatorStateInfo, partition: Int): PartnerCounts = places.synchronized {
    Option(places.remove(place(info, partition)))
      .flatMap(reference => Option(reference.get))
      .filter(_.version == info.storeVersion)
      .fold(new PartnerCounts)(_.counts)
  }

  /** Those of the version that the batch has made. */
  def give(info: StatefulOperatorStateInfo, partition: Int, counts: PartnerCounts): Unit =
    if (!counts.isEmpty) places.synchronized {
      places.put(
        place(info, partition),
        new SoftReference(new Kept(info.storeVersion + 1, counts))
      )
    }
}
