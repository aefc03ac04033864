package org.apache.spark.sql.streamjoin.spark

import java.util.concurrent.locks.ReentrantReadWriteLock

import org.apache.spark.sql.execution.streaming.state.StateStoreProvider

/** The members that Spark 4.3 adds to the interface of state providers, under their names there. */
private[streamjoin] trait ProviderOfSpark43 { this: StateStoreProvider =>

  def maintenanceLock: ReentrantReadWriteLock = lock
  private val lock = new ReentrantReadWriteLock

  def org$apache$spark$sql$execution$streaming$state$StateStoreProvider$_setter_$maintenanceLock_=(
      of: ReentrantReadWriteLock
  ): Unit = ()

  @volatile var unloaded: Boolean = false
}
