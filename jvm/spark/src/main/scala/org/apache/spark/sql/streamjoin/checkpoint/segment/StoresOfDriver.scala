package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.sql.streamjoin.spark.{StateStore, StateStoreProvider, StateStoreProviderId}

/**
 * Providers from which tasks in the driver's own process have had their stores, until Spark closes them.
 *
 * Each time that a store is asked for Spark tells its coordinator where it is, and first asks for the coordinator's
 * address where driver and executor are one: two messages with an answer, one partition after the other. There is
 * nowhere else that the store could be.
 */
private[streamjoin] object StoresOfDriver {

  /** A store that can be had of its provider again. */
  private[segment] trait Provided {

    /** Its provider, unless that is closed, which it is not while it is kept. */
    private[segment] def keepProvider(keep: StateStoreProvider => Unit): Unit
  }

  private val providers = new ConcurrentHashMap[StateStoreProviderId, StateStoreProvider]

  /**
   * The store at a version, in a task.
   *
   * @param checkpoint the id of the version's file, if Spark tells it
   * @param first gets it from Spark
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
