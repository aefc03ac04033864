package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.io.FileNotFoundException
import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{StoredRow, StoredRows, StoredVersion}
import org.apache.spark.sql.streamjoin.errors.StreamJoinRuntimeException
import org.apache.spark.unsafe.Platform

import io.streamjoin.state.segment.{ChangeRow, History}

/** Reads a version of the state from the files, beside whoever goes on with it. */
private[segment] final class SegmentReader(files: StateFiles, version: StoredVersion) {

  private val versions = new StoredVersions(files)

  def read(): StoredRows =
    try read(attempts = 5)
    finally files.close()

  /** Maintenance may put files together, and delete them, between two looks at the folder. */
  private def read(attempts: Int): StoredRows =
    try {
      val history = new History
      val rows = mutable.ArrayBuffer.empty[StoredRow]
      versions.read(versions.find(version.number, version.checkpointId)) { (_, in) =>
        history.add(in)(rows += copy(_))
      }
      StoredRows(side => history.watermarks(side)(_), rows.iterator, () => ())
    } catch {
      case e: StreamJoinRuntimeException
          if e.getCause.isInstanceOf[FileNotFoundException] && attempts > 1 =>
        read(attempts - 1)
    }

  private def copy(stored: ChangeRow): StoredRow = {
    val row = new UnsafeRow(version.rows(stored.side).length)
    row.pointTo(Arrays.copyOf(stored.bytes, stored.size), Platform.BYTE_ARRAY_OFFSET, stored.size)
    StoredRow(stored.side, stored.key, stored.time, stored.limits.clone(), stored.matched, row)
  }
}
