package org.apache.spark.sql.streamjoin.spark

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}

/** A provider whose stores are opened at a version. */
private[streamjoin] trait VersionedStores extends StateStoreProvider {

  /**
   * @param version the version to open
   * @param checkpoint ID of the version's file, if Spark has recorded one
   * @param isEmpty whether the store starts without rows at that version
   */
  protected def open(version: Long, checkpoint: Option[String], isEmpty: Boolean): StateStore

  override def getStore(version: Long, stateStoreCkptId: Option[String]): StateStore =
    open(version, stateStoreCkptId, isEmpty = false)
}
