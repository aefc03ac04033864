package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.sql.streamjoin.spark.{StateStore, StateStoreProvider, StateStoreProviderId}

/**
 * Caches the providers of tasks that run in the process of the driver, until Spark closes them.
 *
 * On each request for a store, Spark reports its location to a coordinator. If driver and executor
 * are one process, Spark first asks for the coordinator's address. Both messages block, for one
 * partition after the other. The cache avoids them: in one process, a store has only one possible
 * location.
 */
private[streamjoin] object StoresOfDriver {

  /** A store whose provider can be cached. */
  private[segment] trait Provided {

    /**
     * Passes its provider to `keep`, unless that is closed. The provider cannot close meanwhile.
     */
    private[segment] def keepProvider(keep: StateStoreProvider => Unit): Unit
  }

  private val providers = new ConcurrentHashMap[StateStoreProviderId, StateStoreProvider]

  /**
   * The store at a version, in a task.
   *
   * @param checkpoint ID of the version's file, if Spark has recorded one
   * @param first requests the store from Spark
   */
  def get(id: StateStoreProviderId, version: Long, checkpoint: Option[String])(
      first: => StateStore
  ): StateStore =
    Option(providers.get(id)).fold(taken(id, first))(_.getStore(version, checkpoint))

  private def taken(id: StateStoreProviderId, store: StateStore): StateStore = {
    store match {
      case one: Provided if SparkEnv.get.executorId == SparkContext.DRIVER_IDENTIFIER =>
        one.keepProvider(provider => { providers.put(id, provider); () })
      case _ =>
    }
    store
  }

  private[segment] def forget(provider: StateStoreProvider): Unit = {
    providers.values.removeIf(_ eq provider)
    ()
  }
}
