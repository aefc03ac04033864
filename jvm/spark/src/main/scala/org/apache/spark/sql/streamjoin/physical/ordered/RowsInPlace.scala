package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.streamjoin.physical.exchange.{NumberedRow, RowPacker}
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
    packed.mapPartitionsInternal(_.flatMap(RowPacker.rows(_, columns)))
  }

  /** Gives them up; who asks for them all the same has them computed again. */
  def free(): Unit = packed.unpersist(blocking = false)
}

private[ordered] object RowsInPlace {

  /** @param fields how many columns a row has */
  def run(rows: RDD[InternalRow], fields: Int): RowsInPlace = {
    val packed = rows
      .mapPartitionsInternal(inChunks)
      .persist(StorageLevel.MEMORY_AND_DISK)
    packed.sparkContext.runJob(packed, (_: Iterator[UnsafeRow]) => ())
    new RowsInPlace(packed, fields)
  }

  /** Rows in chunks, in the order in which they come, each in no more memory than it needs. */
  private[ordered] def inChunks(rows: Iterator[InternalRow]): Iterator[UnsafeRow] = {
    val pair = new NumberedRow
    new RowPacker(1, LargestChunk).chunks(rows.map(pair.to(0, _))).map(_._2.copy())
  }

  private val LargestChunk = 1 << 18
}
