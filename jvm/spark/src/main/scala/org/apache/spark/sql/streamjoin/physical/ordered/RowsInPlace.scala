package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.stateful.RowChunk
import org.apache.spark.sql.streamjoin.spark.StorageLevel

/**
 * Rows that have been computed and wait in their partitions until all of them have been. They are blocks of Spark's
 * own storage, in memory and else on the local disk: a shuffle would write, compress and read each of them to bring it
 * to where it is.
 *
 * A block that is lost is computed again, as the rows of a shuffle would be.
 */
private[ordered] final class RowsInPlace private (packed: RDD[UnsafeRow], fields: Int) {

  /** Each row overwrites the one before. */
  def rows: RDD[InternalRow] = {
    val columns = fields
    packed.mapPartitionsInternal(_.flatMap(RowChunk.rows(_, columns)))
  }

  /** Gives them up; who asks for them all the same has them computed again. */
  def free(): Unit = packed.unpersist(blocking = false)
}

private[ordered] object RowsInPlace {

  /** @param fields how many columns a row has */
  def run(rows: RDD[InternalRow], fields: Int): RowsInPlace = {
    val packed = rows
      .mapPartitionsInternal(some =>
        new PackedRows(some.asInstanceOf[Iterator[UnsafeRow]]): Iterator[UnsafeRow]
      )
      .persist(StorageLevel.MEMORY_AND_DISK)
    packed.sparkContext.runJob(packed, (_: Iterator[UnsafeRow]) => ())
    new RowsInPlace(packed, fields)
  }
}

/** Rows in chunks, in the order in which they come. The first chunks are small, for many a batch has few rows. */
private[ordered] final class PackedRows(rows: Iterator[UnsafeRow]) extends Iterator[UnsafeRow] {
  import PackedRows._

  /** A row that has been read and is in no chunk yet; it stays as it is until the next one is asked for. */
  private var ahead: UnsafeRow = _
  private var room = FirstChunk

  override def hasNext: Boolean = ahead != null || rows.hasNext

  override def next(): UnsafeRow = {
    if (ahead == null) ahead = rows.next()
    val chunk = new RowChunk(0, math.max(room, RowChunk.needed(ahead)))
    room = math.min(room * 2, LargestChunk)
    while (ahead != null && chunk.add(ahead)) ahead = if (rows.hasNext) rows.next() else null
    chunk.toTrimmedRow
  }
}

private[ordered] object PackedRows {
  private val FirstChunk = 1 << 12
  private val LargestChunk = 1 << 18
}
