package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.exchange.{NumberedRow, RowPacker}
import org.apache.spark.storage.StorageLevel

/**
 * Cached rows that wait in their partitions until all partitions have been computed. Spark stores
 * them as blocks in memory, or else on the local disk. A shuffle would write, compress and read
 * each row, although it stays in its partition.
 *
 * Spark computes a lost block again, as it does for a shuffle.
 */
private[ordered] final class RowsInPlace private (packed: RDD[UnsafeRow], fields: Int) {

  /** The rows, in one reused object per partition. */
  def rows: RDD[InternalRow] = {
    val columns = fields
    packed.mapPartitionsInternal(RowPacker.rows(_, columns))
  }

  /** Releases the blocks. A later reader would compute the rows again. */
  def free(): Unit = packed.unpersist(blocking = false)
}

private[ordered] object RowsInPlace {

  /** @param fields the number of columns */
  def run(rows: RDD[InternalRow], fields: Int): RowsInPlace = {
    val packed = rows
      .mapPartitionsInternal(inChunks)
      .persist(StorageLevel.MEMORY_AND_DISK)
    packed.sparkContext.runJob(packed, (_: Iterator[UnsafeRow]) => ())
    new RowsInPlace(packed, fields)
  }

  /** Packs rows into chunks, in arrival order. Each chunk is copied to its exact size. */
  private[ordered] def inChunks(rows: Iterator[InternalRow]): Iterator[UnsafeRow] = {
    val pair = new NumberedRow
    new RowPacker(1, LargestChunk).chunks(rows.map(pair.to(0, _))).map(_._2.copy())
  }

  private val LargestChunk = 1 << 18
}
