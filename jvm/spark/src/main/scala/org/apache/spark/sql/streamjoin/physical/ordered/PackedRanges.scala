package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.streamjoin.join.ordered.TimeBuckets

/**
 * Rows in chunks of which each has rows of one range of times, with the number of the range: a shuffle has a chunk to
 * sort, to write and to read where it would have each row.
 *
 * A chunk comes out when it is full, the others after the last row. The first of a range is small, and of the ranges
 * far from the limit of the batch most have no rows at all.
 *
 * @param rangeOf the number of the range that a row belongs to
 */
private[ordered] final class PackedRanges(rows: Iterator[UnsafeRow], rangeOf: UnsafeRow => Int)
    extends Iterator[Product2[Int, InternalRow]] {
  import PackedRanges._

  private val begun = new Array[RowChunk](TimeBuckets.Count)
  private val rooms = Array.fill(TimeBuckets.Count)(FirstChunk)
  private var ready: Product2[Int, InternalRow] = _

  /** The ranges before it have given what they had, once all rows have been read. */
  private var emptied = 0

  override def hasNext: Boolean = {
    while (ready == null && rows.hasNext) take(rows.next())
    while (ready == null && emptied < begun.length) {
      if (begun(emptied) != null) ready = (emptied, begun(emptied).toRow)
      begun(emptied) = null
      emptied += 1
    }
    ready != null
  }

  override def next(): Product2[Int, InternalRow] = {
    if (!hasNext) throw new NoSuchElementException("no more chunks")
    val chunk = ready
    ready = null
    chunk
  }

  private def take(row: UnsafeRow): Unit = {
    val range = rangeOf(row)
    val chunk = begun(range)
    if (chunk == null || !chunk.add(row)) {
      if (chunk != null) ready = (range, chunk.toRow)
      begun(range) = new RowChunk(math.max(rooms(range), RowChunk.needed(row)))
      begun(range).add(row)
      rooms(range) = math.min(rooms(range) * 2, LargestChunk)
    }
  }
}

private[ordered] object PackedRanges {
  private val FirstChunk = 1 << 9
  private val LargestChunk = 1 << 14
}
