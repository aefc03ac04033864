package org.apache.spark.sql.streamjoin.physical.changelog

import java.lang.ref.SoftReference
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCoordinatorRef,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.streamjoin.run.{PerOperator, RunScope}
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.join.changelog.PartnerCounts

/**
 * Cache of partner counts of changelog joins, between the batches of a query in one process. Soft
 * references release it if memory is short. An entry is valid for one version of a partition. A
 * task for another version starts with an empty cache, and so does a task that runs a batch again.
 *
 * A run that begins in an executor removes the entries of the runs that have ended.
 */
private[changelog] object RememberedPartners {

  private final class Kept(val version: Long, val counts: PartnerCounts)

  /** By partition. */
  private final class Counts(info: StatefulOperatorStateInfo)
      extends ConcurrentHashMap[Int, SoftReference[Kept]] {

    /** Whether Spark has a store of the operator in an executor. It has none after the run. */
    def isActive(stores: StateStoreCoordinatorRef, executor: String): Boolean =
      keySet.asScala.exists { partition =>
        val store = StateStoreProviderId(info, partition, StateStoreId.DEFAULT_STORE_NAME)
        stores.verifyIfInstanceActive(store, executor)
      }
  }

  private val remembered = new PerOperator[Counts]

  /**
   * Removes and returns the counts of the version with which a batch begins. So no other task uses
   * them at the same time.
   */
  def take(info: StatefulOperatorStateInfo, partition: Int): PartnerCounts = {
    if (remembered.find(info).isEmpty) endRuns(SparkEnv.get)
    Option(remembered.of(info)(new Counts(info)).remove(partition))
      .flatMap(reference => Option(reference.get))
      .filter(_.version == info.storeVersion)
      .fold(new PartnerCounts)(_.counts)
  }

  private def endRuns(env: SparkEnv): Unit =
    if (env != null && env.executorId != SparkContext.DRIVER_IDENTIFIER) {
      val stores = StateStoreCoordinatorRef.forExecutor(env)
      RunScope.end(!remembered.ofRun(_).exists(_.isActive(stores, env.executorId)))
    }

  /** Stores the counts for the version that the batch has committed, unless the run has ended. */
  def give(info: StatefulOperatorStateInfo, partition: Int, counts: PartnerCounts): Unit =
    for (places <- remembered.find(info) if !counts.isEmpty)
      places.put(partition, new SoftReference(new Kept(info.storeVersion + 1, counts)))
}
