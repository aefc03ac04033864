package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{FormatNumber, StateFormat, StateShape, StoredRows, StoredState, StoredVersion}
import org.apache.spark.sql.streamjoin.spark.{RocksDBStateStoreProvider, StateStore, StateStoreColFamilySchema, StateStoreConf, StoreReports}
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.Side

/** State format for state larger than memory: rows in RocksDB, through Spark's own provider. */
private[checkpoint] object RocksDBFormat extends StateFormat {

  override val number: FormatNumber = RocksDBLayout.Number

  override def schemas(row: Side => StructType): Map[String, StateStoreColFamilySchema] =
    RocksDBLayout.schemas(row)

  override def settings(session: SQLConf, commitsAreChecked: Boolean): StateStoreConf =
    RocksDBSettings.of(session, commitsAreChecked)

  override def read(version: StoredVersion, hadoopConf: Configuration): StoredRows =
    new RocksDBReader(version, hadoopConf).read()

  override def open(store: StateStore, shape: StateShape): StoredState = {
    val rows = new RocksDBJoinState(store, shape)
    StoredState(rows, () => rows.flush(), () => 0L)
  }
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
