package org.apache.spark.sql.streamjoin.checkpoint.formats

import org.apache.hadoop.conf.Configuration
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.checkpoint.rocksdb.{RocksDBFormat, RocksDBImport}
import org.apache.spark.sql.streamjoin.checkpoint.segment.SegmentFormat
import org.apache.spark.sql.streamjoin.checkpoint.{
  JoinDescription,
  StateFormat,
  StateShape,
  StoredVersion
}

import io.streamjoin.model.BySide

/**
 * Converts state of the format `segments` to `rocksdb`, for a query whose state outgrows memory.
 *
 * For each partition, the version from which the query continues becomes a RocksDB snapshot with
 * the same number, beside the files of the segments. A partition that has such a snapshot is not
 * converted again.
 */
private[streamjoin] final class SegmentsIntoRocksDB(session: SQLConf)
    extends Serializable
    with Logging {

  private val from: StateStoreConf = SegmentFormat.settings(session)
  private val into: StateStoreConf = RocksDBFormat.settingsOfNew(session)

  /**
   * Opens a version. If only segments have this version, converts it first.
   *
   * @param open opens the version in RocksDB
   */
  def opened[T](
      store: StateStoreId,
      number: Long,
      shape: StateShape,
      hadoopConf: Configuration
  )(open: => T): T =
    try open
    catch {
      case e: Exception
          if number > 0 && SegmentFormat.holds(version(store, number, shape), hadoopConf) =>
        logInfo(
          s"The rows of ${store.storeCheckpointLocation()}, version $number, are copied from " +
            "segments into RocksDB, once"
        )
        logDebug("What RocksDB lacks of them", e)
        take(version(store, number, shape), hadoopConf)
        open
    }

  private def version(store: StateStoreId, number: Long, shape: StateShape) =
    StoredVersion(store, number, None, BySide.of(shape.schema), from)

  private def take(version: StoredVersion, hadoopConf: Configuration): Unit = {
    val content = SegmentFormat.read(version, hadoopConf, inUse = false)
    try new RocksDBImport(version.copy(conf = into), content, hadoopConf).write()
    finally content.close()
  }
}

private[streamjoin] object SegmentsIntoRocksDB {

  /** Whether the state changes from `segments` to `rocksdb`, by the descriptions in JSON. */
  def applies(old: String, now: String): Boolean =
    JoinDescription.format(old).contains(SegmentFormat.name) &&
      JoinDescription.format(now).contains(RocksDBFormat.name)

  /** The conversion into a format, if there is one. */
  def of(format: StateFormat, session: SQLConf): Option[SegmentsIntoRocksDB] =
    Option.when(format == RocksDBFormat)(new SegmentsIntoRocksDB(session))
}
