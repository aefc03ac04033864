package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  RocksDBStateStoreProvider,
  StateStore,
  StateStoreColFamilySchema,
  StateStoreConf
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{
  StateFormat,
  StateShape,
  StoredRows,
  StoredState,
  StoredVersion
}
import org.apache.spark.sql.streamjoin.spark.StoreReports
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.Side

/** State format for state larger than memory: rows in RocksDB, through Spark's own provider. */
private[checkpoint] object RocksDBFormat extends StateFormat {

  override val name: String = RocksDBLayout.Format

  override protected def families(side: Side, row: StructType): Seq[StateStoreColFamilySchema] =
    RocksDBLayout.families(side, row)

  val Changelog: String = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

  /** The format requires ordered scans. */
  override protected def provider: Class[RocksDBStateStoreProvider] =
    classOf[RocksDBStateStoreProvider]

  override protected def defaults: Map[String, String] = Map(
    Changelog -> "true",
    // the operator counts its rows itself
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows" -> "false"
  )

  /**
   * Settings with which each commit writes a snapshot without an ID. The store reports nothing to the
   * coordinator of a query, which an application without queries does not have.
   */
  override def settingsOfNew(session: SQLConf): StateStoreConf = {
    val own = session.clone()
    own.setConf(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION, 1)
    own.setConfString(Changelog, "false")
    StoreReports.withoutSnapshots(own)
    StoreReports.withoutCommitChecks(own)
    settings(own)
  }

  override def read(
      version: StoredVersion,
      hadoopConf: Configuration,
      inUse: Boolean
  ): StoredRows = new RocksDBReader(version, hadoopConf).read()

  override def write(
      version: StoredVersion,
      content: StoredRows,
      count: Long,
      hadoopConf: Configuration
  ): Unit = new RocksDBImport(version, content, hadoopConf).write()

  override def open(store: StateStore, shape: StateShape): StoredState = {
    val rows = new RocksDBJoinState(store, shape)
    StoredState(rows, () => rows.flush(), () => 0L, () => ())
  }
}
