package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.spark.{
  RocksDBStateStoreProvider,
  StateStoreConf,
  StoreReports
}

/** Settings of the operator's state store with RocksDB. */
private[rocksdb] object RocksDBSettings {

  val Changelog: String = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

  private val unlessSet = Seq(
    Changelog -> "true",
    // the operator counts its rows itself
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows" -> "false"
  )

  /** Sets RocksDB as the provider, whatever the session's: the operator requires ordered scans. */
  def of(session: SQLConf, commitsAreChecked: Boolean = true): StateStoreConf = {
    val own = session.clone()
    own.setConfString(
      SQLConf.STATE_STORE_PROVIDER_CLASS.key,
      classOf[RocksDBStateStoreProvider].getName
    )
    own.setConfString(SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT.key, "unsaferow")
    for ((key, value) <- unlessSet if !session.contains(key)) own.setConfString(key, value)
    if (!commitsAreChecked) StoreReports.withoutCommitChecks(own)
    new StateStoreConf(own)
  }
}
