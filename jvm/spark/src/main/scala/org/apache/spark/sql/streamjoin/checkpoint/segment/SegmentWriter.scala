package org.apache.spark.sql.streamjoin.checkpoint.segment

import java.util.UUID

import org.apache.spark.sql.streamjoin.checkpoint.{NewVersion, StoredRow}
import org.apache.spark.unsafe.Platform

import io.streamjoin.state.segment.{ChangeRow, History}

/** Writes rows as a version of the state that needs no earlier one. It buffers one row. */
private[segment] final class SegmentWriter(files: StateFiles) {

  def write(version: NewVersion, rows: Iterator[StoredRow]): Unit = {
    files.create()
    val file = StateFile(version.number, version.id.getOrElse(UUID.randomUUID().toString), 0)
    files.write(file, before = None) { out =>
      StoredMap.write(version.numbers, out)
      History.write(out, version.count, version.evicted) { write =>
        val change = new ChangeRow
        rows.foreach { row =>
          fill(change, row)
          write(change)
        }
      }
    }: Unit
  }

  private def fill(change: ChangeRow, row: StoredRow): Unit = {
    change.side = row.side
    change.matched = row.matched
    change.key = row.key
    change.time = row.time
    change.limits = row.limits
    change.size = row.row.getSizeInBytes
    change.offset = 0
    if (change.bytes.length < change.size) change.bytes = new Array[Byte](change.size * 2)
    row.row.writeToMemory(change.bytes, Platform.BYTE_ARRAY_OFFSET)
  }
}
