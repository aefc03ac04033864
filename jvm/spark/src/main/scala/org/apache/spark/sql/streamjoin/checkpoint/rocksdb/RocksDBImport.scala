package org.apache.spark.sql.streamjoin.checkpoint.rocksdb

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.streamjoin.checkpoint.{
  StateShape,
  StoredNumbers,
  StoredRow,
  StoredRows,
  StoredVersion
}

import io.streamjoin.model.{Side, Watermarks}

/**
 * Writes given rows as a snapshot of a partition's state. It buffers a limited number of rows.
 *
 * RocksDB counts versions from zero, so the import writes version 1. Only the file name of a
 * snapshot has the version, so a rename makes it the snapshot of another version.
 */
private[checkpoint] final class RocksDBImport(
    version: StoredVersion,
    content: StoredRows,
    hadoopConf: Configuration
) {
  import RocksDBImport._

  /** Rows are appended, each with its limits. They are neither probed nor evicted. */
  private val shape = StateShape(
    version.rows,
    content.evicted(_).length,
    _ => 1L,
    (_, _, _) => throw new UnsupportedOperationException("no row is removed")
  )
  private val provider = SeparateDatabase.open(version.store, version.conf, hadoopConf)
  private val store = provider.getStore(0, None)
  private var part = new RocksDBJoinState(store, shape)
  private var inPart = 0

  /** Writes the snapshot of the version, and closes the database. */
  def write(): Unit =
    try {
      val stored = new StoredNumbers(store)
      for ((name, value) <- content.numbers) stored.put(name, value)
      content.rows.foreach(put)
      for {
        side <- Side.both
        (watermark, k) <- content.evicted(side).zipWithIndex if watermark != Watermarks.Unknown
      } stored.put(RocksDBLayout.evictedName(side, k), watermark)
      part.flush()
      store.commit()
      rename()
    } finally close()

  private def put(row: StoredRow): Unit = {
    part.append(row.side, row.key, row.time, row.limits, row.row, row.matched)
    inPart += 1
    if (inPart == RowsInMemory) {
      part.flush()
      part = new RocksDBJoinState(store, shape)
      inPart = 0
    }
  }

  private def rename(): Unit = {
    val name = (version.number.toString +: version.checkpointId.toSeq).mkString("_")
    if (name != Written.toString) {
      val folder = version.store.storeCheckpointLocation()
      val files = folder.getFileSystem(hadoopConf)
      val snapshot = new Path(folder, s"$name.zip")
      // another attempt of the task may have written the same snapshot first
      if (!files.rename(new Path(folder, s"$Written.zip"), snapshot) && !files.exists(snapshot)) {
        throw new java.io.IOException(s"$snapshot could not be written")
      }
    }
  }

  private def close(): Unit = {
    if (!store.hasCommitted) store.abort()
    provider.close()
  }
}

private[checkpoint] object RocksDBImport {

  private val Written = 1L

  private val RowsInMemory = 100000
}
