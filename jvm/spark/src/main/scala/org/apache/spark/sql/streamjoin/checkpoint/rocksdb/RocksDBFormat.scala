package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.{
  FormatNumber,
  StateFormat,
  StateShape,
  StoredRows,
  StoredState,
  StoredVersion
}
import org.apache.spark.sql.streamjoin.spark.{StateStore, StateStoreColFamilySchema, StateStoreConf}
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
