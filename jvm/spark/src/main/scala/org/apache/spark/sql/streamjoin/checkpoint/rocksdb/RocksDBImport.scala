package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.streamjoin.checkpoint.{StateShape, StoredNumbers, StoredRow}
import org.apache.spark.sql.streamjoin.spark.{StateStoreConf, StateStoreId}

import io.streamjoin.model.{Side, Watermarks}

/**
 * Writes given rows as a snapshot of a partition's state. It buffers a limited number of rows.
 *
 * RocksDB counts versions from zero, so the import writes version 1. Only the file name of a
 * snapshot has the version, so a rename makes it the snapshot of another version.
 */
private[checkpoint] final class RocksDBImport(
    id: StateStoreId,
    conf: StateStoreConf,
    shape: StateShape,
    hadoopConf: Configuration
) {
  import RocksDBImport._

  private val provider = SeparateDatabase.open(id, conf, hadoopConf)
  private val store = provider.getStore(0, None)
  private var part = new RocksDBJoinState(store, shape)
  private var inPart = 0

  def number(name: String, value: Long): Unit = new StoredNumbers(store).put(name, value)

  /**
   * @param watermarks the watermarks of the last eviction, by limit
   */
  def evicted(side: Side, watermarks: Array[Long]): Unit =
    for (k <- watermarks.indices if watermarks(k) != Watermarks.Unknown)
      number(RocksDBLayout.evictedName(side, k), watermarks(k))

  def row(row: StoredRow): Unit = {
    part.append(row.side, row.key, row.time, row.limits, row.row, row.matched)
    inPart += 1
    if (inPart == RowsInMemory) {
      part.flush()
      part = new RocksDBJoinState(store, shape)
      inPart = 0
    }
  }

  /**
   * Commits the rows as the snapshot of a version.
   *
   * @param checkpointId ID of the snapshot, if the checkpoint records IDs
   */
  def commitAs(version: Long, checkpointId: Option[String] = None): Unit = {
    part.flush()
    store.commit()
    val name = (version.toString +: checkpointId.toSeq).mkString("_")
    if (name != Written.toString) {
      val folder = id.storeCheckpointLocation()
      val files = folder.getFileSystem(hadoopConf)
      val snapshot = new Path(folder, s"$name.zip")
      // another attempt of the task may have written the same snapshot first
      if (!files.rename(new Path(folder, s"$Written.zip"), snapshot) && !files.exists(snapshot)) {
        throw new java.io.IOException(s"$snapshot could not be written")
      }
    }
  }

  def close(): Unit = {
    if (!store.hasCommitted) store.abort()
    provider.close()
  }
}

private[checkpoint] object RocksDBImport {

  private val Written = 1L

  private val RowsInMemory = 100000
}
