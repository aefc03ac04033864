package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{StoredRow, StoredRows, StoredVersion}
import org.apache.spark.unsafe.Platform

import io.streamjoin.model.Side
import io.streamjoin.state.segment.{ChangeRow, History}

/**
 * Reads a version of the state from its files. A running query may continue to write and merge
 * them.
 */
private[segment] final class SegmentReader(files: StateFiles, version: StoredVersion) {

  private val versions = new StoredVersions(files)

  def exists(): Boolean =
    try files.list().exists(_.version == version.number)
    finally files.close()

  /**
   * Visits numbers and rows one by one. Requires that no running query deletes the files meanwhile.
   */
  def each(number: (String, Long) => Unit, row: StoredRow => Unit): Side => Array[Long] =
    try {
      val history = new History
      var newest = true
      versions.read(versions.find(version.number, version.checkpointId)) { (numbers, in) =>
        if (newest) numbers.foreach(number.tupled)
        newest = false
        history.add(in)(stored => row(copy(stored)))
      }
      history.watermarks
    } finally files.close()

  def read(): StoredRows =
    try versions.readAgainIfMissing {
        val history = new History
        val rows = mutable.ArrayBuffer.empty[StoredRow]
        versions.read(versions.find(version.number, version.checkpointId)) { (_, in) =>
          history.add(in)(rows += copy(_))
        }
        StoredRows(side => history.watermarks(side)(_), rows.iterator, () => ())
      }
    finally files.close()

  private def copy(stored: ChangeRow): StoredRow = {
    val row = new UnsafeRow(version.rows(stored.side).length)
    val bytes = Arrays.copyOfRange(stored.bytes, stored.offset, stored.offset + stored.size)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, stored.size)
    StoredRow(stored.side, stored.key, stored.time, stored.limits.clone(), stored.matched, row)
  }
}
