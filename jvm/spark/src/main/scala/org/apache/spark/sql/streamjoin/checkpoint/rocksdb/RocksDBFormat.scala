package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{
  FormatNumber,
  NewVersion,
  StateFormat,
  StateShape,
  StoredRow,
  StoredRows,
  StoredState,
  StoredVersion
}
import org.apache.spark.sql.streamjoin.spark.{
  RocksDBStateStoreProvider,
  StateStore,
  StateStoreColFamilySchema,
  StateStoreConf,
  StoreReports
}
import org.apache.spark.sql.types.StructType

import io.streamjoin.model.Side

/** State format for state larger than memory: rows in RocksDB, through Spark's own provider. */
private[checkpoint] object RocksDBFormat extends StateFormat {

  override val number: FormatNumber = RocksDBLayout.Number

  override def schemas(row: Side => StructType): Map[String, StateStoreColFamilySchema] =
    RocksDBLayout.schemas(row)

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
  def settingsOfImport(session: SQLConf): StateStoreConf = {
    val own = session.clone()
    own.setConf(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION, 1)
    own.setConfString(Changelog, "false")
    StoreReports.withoutSnapshots(own)
    settings(own, commitsAreChecked = false)
  }

  override def read(version: StoredVersion, hadoopConf: Configuration): StoredRows =
    new RocksDBReader(version, hadoopConf).read()

  override def each(
      version: StoredVersion,
      hadoopConf: Configuration
  )(number: (String, Long) => Unit, row: StoredRow => Unit): Side => Array[Long] =
    new RocksDBReader(version, hadoopConf).each(number, row)

  override def write(version: NewVersion, hadoopConf: Configuration)(
      rows: Iterator[StoredRow]
  ): Unit = {
    val settings = settingsOfImport(version.session)
    val into = new RocksDBImport(version.store, settings, version.shape, hadoopConf)
    try {
      version.numbers.foreach { case (name, value) => into.number(name, value) }
      rows.foreach(into.row)
      for ((side, watermarks) <- version.evicted) into.evicted(side, watermarks)
      into.commitAs(version.number, version.id)
    } finally into.close()
  }

  override def open(store: StateStore, shape: StateShape): StoredState = {
    val rows = new RocksDBJoinState(store, shape)
    StoredState(rows, () => rows.flush(), () => 0L)
  }
}
