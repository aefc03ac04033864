package org.apache.spark.sql.streamjoin.checkpoint.segment

import org.apache.spark.sql.streamjoin.spark.StateStoreId

import java.util.concurrent.ConcurrentHashMap

/**
 * Who has the rows of a partition in the memory of this process.
 *
 * A provider is of one run of a query. When the query is started again Spark closes those of the run before only when
 * their maintenance is done, and the next run reads its state meanwhile: the rows would be in memory twice.
 */
private[segment] object RowsOfRuns {

  trait Holder {

    /** Gives up the rows that it has in memory; they are in the files. */
    def letGo(): Unit
  }

  private val holders = new ConcurrentHashMap[StateStoreId, Holder]

  /** From now on the rows are this one's, and nobody else has them. */
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
