package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.apache.spark.sql.streamjoin.spark.StateStoreId

import java.util.concurrent.ConcurrentHashMap

/**
 * Registry of the providers that have the rows of a partition in the memory of this process.
 *
 * A provider belongs to one run of a query. On a restart, Spark closes the providers of the
 * previous run only after their maintenance. The next run reads its state meanwhile. Without this
 * registry, the rows would be in memory twice.
 */
private[segment] object ResidentState {

  trait Holder {

    /** Drops the rows in memory. They can be read again from the files. */
    def letGo(): Unit
  }

  private val holders = new ConcurrentHashMap[StateStoreId, Holder]

  /** Makes a provider the only owner of the rows: the previous one drops its rows. */
  def take(id: StateStoreId, holder: Holder): Unit = {
    val before = holders.put(id, holder)
    if (before != null && (before ne holder)) before.letGo()
  }

  def areOf(id: StateStoreId, holder: Holder): Boolean = holders.get(id) eq holder

  def forget(id: StateStoreId, holder: Holder): Unit = {
    holders.remove(id, holder)
    ()
  }
}
