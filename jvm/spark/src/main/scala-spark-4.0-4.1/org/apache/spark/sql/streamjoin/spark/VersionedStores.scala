package org.apache.spark.sql.streamjoin.spark

/** A provider whose stores are opened at a version. */
private[streamjoin] trait VersionedStores extends StateStoreProvider {

  /**
   * @param version the version to open
   * @param checkpoint the id of the version's file, if Spark tells it
   * @param isEmpty whether the store begins without rows at that version
   */
  protected def open(version: Long, checkpoint: Option[String], isEmpty: Boolean): StateStore

  override def getStore(version: Long, stateStoreCkptId: Option[String]): StateStore =
    open(version, stateStoreCkptId, isEmpty = false)
}
