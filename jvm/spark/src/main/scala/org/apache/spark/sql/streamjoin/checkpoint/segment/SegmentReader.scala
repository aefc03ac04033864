package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.Arrays

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.checkpoint.{OnFailure, StoredRow, StoredRows, StoredVersion}
import org.apache.spark.unsafe.Platform

import io.streamjoin.model.Side
import io.streamjoin.state.segment.history.{ChangeRow, History}

/**
 * Reads a version of the state from its files. A running query may continue to write and merge
 * them.
 */
private[segment] final class SegmentReader(files: StateFiles, version: StoredVersion) {

  private val versions = new StoredVersions(files)

  def exists(): Boolean =
    try files.list().exists(_.version == version.number)
    finally files.close()

  /** Reads rows one by one. Requires that no running query deletes the files until `close`. */
  def read(): StoredRows = {
    val rows = new Rows
    def close(): Unit =
      try rows.close()
      finally files.close()
    OnFailure(close()) {
      StoredRows(rows.begin(), rows.watermarks, rows.iterator, () => close())
    }
  }

  /** Reads all rows into memory. A running query may delete the files meanwhile. */
  def readAll(): StoredRows =
    try versions.readAgainIfMissing {
        val rows = new Rows
        try StoredRows(rows.begin(), rows.watermarks, rows.iterator.toVector.iterator, () => ())
        finally rows.close()
      }
    finally files.close()

  private final class Rows {
    private val history = new History
    private val row = new ChangeRow
    private lazy val chain = versions.open(versions.find(version.number, version.checkpointId))
    private var file = Option.empty[StateFiles#OpenFile]

    def watermarks: Side => Array[Long] = history.watermarks

    /** Opens the next file of the version, and returns its numbers. The first file is the newest. */
    def begin(): Map[String, Long] = {
      val (_, opened) = chain.next()
      file = Some(opened)
      opened.read { in =>
        val numbers = StoredMap.read(in)
        history.begin(in)
        numbers
      }
    }

    def iterator: Iterator[StoredRow] =
      Iterator.continually(next()).takeWhile(_.nonEmpty).flatten

    @tailrec
    private def next(): Option[StoredRow] =
      if (file.get.read(_ => history.next(row))) Some(copy(row))
      else {
        file.get.check()
        close()
        if (chain.hasNext) {
          begin(): Unit
          next()
        } else None
      }

    def close(): Unit = file.foreach(_.close())
  }

  private def copy(stored: ChangeRow): StoredRow = {
    val row = new UnsafeRow(version.rows(stored.side).length)
    val bytes = Arrays.copyOfRange(stored.bytes, stored.offset, stored.offset + stored.size)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, stored.size)
    StoredRow(stored.side, stored.key, stored.time, stored.limits.clone(), stored.matched, row)
  }
}
