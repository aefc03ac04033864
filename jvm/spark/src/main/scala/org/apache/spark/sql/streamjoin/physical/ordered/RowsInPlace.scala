package org.apache.spark.sql.streamjoin.physical.ordered

import java.util.Arrays

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.storage.StorageLevel
import org.apache.spark.unsafe.Platform

/**
 * Rows that have been computed and wait in their partitions until all of them have been. They are blocks of Spark's
 * own storage, in memory and else on the local disk: a shuffle would write, compress and read each of them to bring it
 * to where it is.
 *
 * A block that is lost is computed again, as the rows of a shuffle would be.
 */
private[ordered] final class RowsInPlace private (packed: RDD[Array[Byte]], fields: Int) {

  /** Each row overwrites the one before. */
  def rows: RDD[InternalRow] = {
    val columns = fields
    packed.mapPartitionsInternal(_.flatMap(PackedRows.read(_, columns)))
  }

  /** Gives them up; who asks for them all the same has them computed again. */
  def free(): Unit = packed.unpersist(blocking = false)
}

private[ordered] object RowsInPlace {

  /** @param fields how many columns a row has */
  def run(rows: RDD[InternalRow], fields: Int): RowsInPlace = {
    val packed = rows
      .mapPartitionsInternal(some =>
        new PackedRows(some.asInstanceOf[Iterator[UnsafeRow]]): Iterator[Array[Byte]]
      )
      .persist(StorageLevel.MEMORY_AND_DISK)
    packed.sparkContext.runJob(packed, (_: Iterator[Array[Byte]]) => ())
    new RowsInPlace(packed, fields)
  }
}

/**
 * Rows in chunks of bytes, one after the other: its size in a word, and the row. The first chunks are small, for many
 * a batch has few rows.
 */
private[ordered] final class PackedRows(rows: Iterator[UnsafeRow]) extends Iterator[Array[Byte]] {
  import PackedRows._

  /** A row that has been read and is in no chunk yet; it stays as it is until the next one is asked for. */
  private var ahead: UnsafeRow = _
  private var room = FirstChunk

  override def hasNext: Boolean = ahead != null || rows.hasNext

  override def next(): Array[Byte] = {
    if (ahead == null) ahead = rows.next()
    val chunk = new Array[Byte](math.max(room, Word + ahead.getSizeInBytes))
    room = math.min(room * 2, LargestChunk)
    var used = 0
    while (ahead != null && used + Word + ahead.getSizeInBytes <= chunk.length) {
      Platform.putLong(chunk, Platform.BYTE_ARRAY_OFFSET + used, ahead.getSizeInBytes.toLong)
      ahead.writeToMemory(chunk, Platform.BYTE_ARRAY_OFFSET + used + Word)
      used += Word + ahead.getSizeInBytes
      ahead = if (rows.hasNext) rows.next() else null
    }
    if (used == chunk.length) chunk else Arrays.copyOf(chunk, used)
  }
}

private[ordered] object PackedRows {
  private val Word = 8
  private val FirstChunk = 1 << 12
  private val LargestChunk = 1 << 18

  /** The rows of a chunk; each overwrites the one before. */
  def read(chunk: Array[Byte], fields: Int): Iterator[InternalRow] = new Iterator[InternalRow] {
    private val row = new UnsafeRow(fields)
    private var at = 0

    override def hasNext: Boolean = at < chunk.length

    override def next(): InternalRow = {
      val size = Platform.getLong(chunk, Platform.BYTE_ARRAY_OFFSET + at).toInt
      row.pointTo(chunk, Platform.BYTE_ARRAY_OFFSET + at + Word, size)
      at += Word + size
      row
    }
  }
}
