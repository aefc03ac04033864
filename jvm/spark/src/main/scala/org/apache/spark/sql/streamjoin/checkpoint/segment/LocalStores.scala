package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.sql.streamjoin.run.RunScope
import org.apache.spark.sql.streamjoin.spark.{StateStore, StateStoreProviderId}

/**
 * Cache of the state stores of tasks that run in the process of the driver. A run requests each
 * store from Spark once, and later opens the same partition, until Spark closes its provider.
 *
 * On each request for a store, Spark reports its location to a coordinator. If driver and executor
 * are one process, Spark first asks for the coordinator's address. Both messages block, for one
 * partition after the other. In one process, a store has only one possible location.
 */
private[streamjoin] object LocalStores {

  /**
   * The store at a version, in a task.
   *
   * @param checkpoint ID of the version's file, if Spark has recorded one
   * @param first requests the store from Spark
   */
  def get(id: StateStoreProviderId, version: Long, checkpoint: Option[String])(
      first: => StateStore
  ): StateStore = if (SparkEnv.get.executorId != SparkContext.DRIVER_IDENTIFIER) first
  else {
    val known = RunScope.of(id.queryRunId).kept(id)(new AtomicReference[StoredPartition])
    Option(known.get).filterNot(_.isClosed).fold {
      val store = first
      Some(store).collect { case s: SegmentStateStore => known.set(s.partition) }
      store
    }(new SegmentStateStore(_, version, Some(checkpoint)))
  }
}
