package org.apache.spark.sql.streamjoin.physical.changelog

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.streamjoin.join.changelog.ChangeKind

/**
 * Writer of the change metadata of an output row, in the required columns: row kind, batch and time
 * of the batch. It writes into an existing row with
 * [[ChangeMetadataWriter.Spare]] spare bytes.
 *
 * @param version the number of the batch
 * @param time the recorded time of the batch, in microseconds
 */
private[changelog] final class ChangeMetadataWriter(
    spec: ChangelogSpec,
    version: Long,
    time: Long
) {

  private def ofChange(n: Int): Int =
    spec.output.columns.indexWhere(_.exprId == spec.output.changes(n).exprId)

  private val (kindAt, versionAt, timeAt) = (ofChange(0), ofChange(1), ofChange(2))

  private val kinds = ChangeKind.all.toArray
  private val words = kinds.map(_.name.getBytes(UTF_8))

  /** A linear search of four kinds is as fast as a hash table. */
  private def wordOf(kind: ChangeKind): Array[Byte] = {
    var i = 0
    while (kinds(i) ne kind) i += 1
    words(i)
  }

  def write(row: UnsafeRow, kind: ChangeKind): Unit = {
    if (versionAt >= 0) row.setLong(versionAt, version)
    if (timeAt >= 0) row.setLong(timeAt, time)
    if (kindAt >= 0) append(row, wordOf(kind))
  }

  /** Appends the bytes of the row kind at the end of the row. */
  private def append(row: UnsafeRow, word: Array[Byte]): Unit = {
    // a pair would allocate an object for each row
    val bytes = row.getBaseObject.asInstanceOf[Array[Byte]]
    val end = row.getSizeInBytes
    row.setLong(kindAt, end.toLong << 32 | word.length.toLong)
    Platform.copyMemory(
      word,
      Platform.BYTE_ARRAY_OFFSET,
      bytes,
      Platform.BYTE_ARRAY_OFFSET + end,
      word.length
    )
    row.pointTo(bytes, end + ChangeMetadataWriter.rounded(word.length))
  }
}

private[changelog] object ChangeMetadataWriter {

  private def rounded(bytes: Int): Int = (bytes + 7) / 8 * 8

  /** The number of spare bytes that a row needs at its end. */
  val Spare: Int = rounded(ChangeKind.all.map(_.name.length).max)
}
