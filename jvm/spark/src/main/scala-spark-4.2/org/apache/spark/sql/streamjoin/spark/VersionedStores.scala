package org.apache.spark.sql.streamjoin.spark

import java.util.concurrent.locks.ReentrantReadWriteLock

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}

/** A provider whose stores are opened at a version. */
private[streamjoin] trait VersionedStores extends StateStoreProvider {

  /**
   * @param version the version to open
   * @param checkpoint ID of the version's file, if Spark has recorded one
   * @param isEmpty whether the store starts without rows at that version
   */
  protected def open(version: Long, checkpoint: Option[String], isEmpty: Boolean): StateStore

  override def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean
  ): StateStore = open(version, stateStoreCkptId, loadEmpty)

  // ---- members that Spark 4.3 adds to StateStoreProvider, with the names that it uses ----

  def maintenanceLock: ReentrantReadWriteLock = lock
  private val lock = new ReentrantReadWriteLock

  def org$apache$spark$sql$execution$streaming$state$StateStoreProvider$_setter_$maintenanceLock_=(
      of: ReentrantReadWriteLock
  ): Unit = ()

  @volatile var unloaded: Boolean = false

  /** Spark 4.3 calls this regularly, and `doMaintenance` only when it unloads a store. */
  def doSnapshotMaintenance(): Unit = doMaintenance()
}
