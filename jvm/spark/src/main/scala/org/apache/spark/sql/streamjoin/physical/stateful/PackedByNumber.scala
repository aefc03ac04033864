package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Rows in chunks of which each has rows of one number: a shuffle has a chunk to write and to read where it would have
 * each row. Rows of one number keep their order.
 *
 * A chunk comes out when it is full, the others after the last row. The first of a number is small: in many a batch most
 * numbers have few rows, or none.
 *
 * @param count above all numbers
 */
private[physical] final class PackedByNumber(
    rows: Iterator[UnsafeRow],
    count: Int,
    numberOf: UnsafeRow => Int
) extends Iterator[UnsafeRow] {
  import PackedByNumber._

  private val begun = new Array[RowChunk](count)
  private val rooms = Array.fill(count)(FirstChunk)
  private val largest = math.max(FirstChunk, math.min(LargestChunk, AtMost / math.max(1, count)))
  private var ready: UnsafeRow = _

  /** The numbers before it have given what they had, once all rows have been read. */
  private var emptied = 0

  override def hasNext: Boolean = {
    while (ready == null && rows.hasNext) take(rows.next())
    while (ready == null && emptied < begun.length) {
      if (begun(emptied) != null) ready = begun(emptied).toRow
      begun(emptied) = null
      emptied += 1
    }
    ready != null
  }

  override def next(): UnsafeRow = {
    if (!hasNext) throw new NoSuchElementException("no more chunks")
    val chunk = ready
    ready = null
    chunk
  }

  private def take(row: UnsafeRow): Unit = {
    val number = numberOf(row)
    val chunk = begun(number)
    if (chunk == null || !chunk.add(row)) {
      if (chunk != null) ready = chunk.toRow
      begun(number) = new RowChunk(number, math.max(rooms(number), RowChunk.needed(row)))
      begun(number).add(row)
      rooms(number) = math.min(rooms(number) * 2, largest)
    }
  }
}

private[physical] object PackedByNumber {
  private val FirstChunk = 1 << 9
  private val LargestChunk = 1 << 14

  /** What all chunks that are begun may take. */
  private val AtMost = 1 << 24
}
