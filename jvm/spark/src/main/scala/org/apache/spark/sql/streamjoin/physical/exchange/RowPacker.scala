package org.apache.spark.sql.streamjoin.physical.exchange

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Packs rows into bytes by partition number ([[SizedRows]]).
 *
 * A chunk has rows of one number, in arrival order.
 *
 * Spark handles a chunk like one row. For single rows it would write the size of each one, and read
 * it byte by byte.
 *
 * @param count the number of partitions
 * @param largest the most bytes of a chunk with several rows
 */
private[physical] final class RowPacker(count: Int, largest: Int = RowPacker.LargestChunk) {
  import RowPacker._

  private val ends = new Array[Int](count)
  private val packed = new Array[Array[Byte]](count)
  private val most = math.max(FirstBytes, math.min(largest, AtMost / math.max(1, count)))
  private var all = 0L
  private var rowCount = 0L

  /** The bytes of all added rows. */
  def size: Long = all

  def rows: Long = rowCount

  def add(number: Int, row: UnsafeRow): Unit = {
    val begin = ends(number)
    val end = begin + SizedRows.needed(row)
    if (packed(number) == null) packed(number) = new Array[Byte](math.max(FirstBytes, end))
    else if (packed(number).length < end)
      packed(number) = Arrays.copyOf(packed(number), math.max(end, 2 * packed(number).length))
    ends(number) = SizedRows.write(row, packed(number), begin)
    all += end - begin
    rowCount += 1
  }

  /** All rows in chunks with their numbers: the added rows, then those of `rows`. */
  def chunks(rows: Iterator[NumberedRow]): Iterator[(Int, UnsafeRow)] =
    Iterator.continually(nextChunk(rows)).takeWhile(_ != null)

  /** When all rows are read, the first number whose rest is not emitted yet. */
  private var emptied = 0

  /** Null after the last one. */
  private def nextChunk(rows: Iterator[NumberedRow]): (Int, UnsafeRow) = {
    var ready: (Int, UnsafeRow) = null
    while (ready == null && rows.hasNext) {
      val row = rows.next()
      val bytes = row.row.asInstanceOf[UnsafeRow]
      if (isFull(row.number, bytes)) ready = taken(row.number)
      add(row.number, bytes)
    }
    while (ready == null && emptied < packed.length) {
      if (packed(emptied) != null) ready = taken(emptied)
      emptied += 1
    }
    ready
  }

  private def isFull(number: Int, row: UnsafeRow): Boolean =
    ends(number) > 0 && ends(number) + SizedRows.needed(row) > most

  private def taken(number: Int): (Int, UnsafeRow) = {
    val chunk = (number, chunkOf(packed(number), ends(number)))
    packed(number) = null
    ends(number) = 0
    chunk
  }
}

private[physical] object RowPacker {
  private val FirstBytes = 1 << 9
  private val LargestChunk = 1 << 14

  /** The most bytes of all unfinished chunks together. */
  private val AtMost = 1 << 24

  /** Wraps the bytes of rows as a row without columns, which Spark can move. */
  private def chunkOf(bytes: Array[Byte], end: Int): UnsafeRow = {
    val row = new UnsafeRow(0)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, end)
    row
  }

  /**
   * The rows of chunks, in one reused object.
   *
   * @param fields the number of columns
   */
  def rows(chunks: Iterator[UnsafeRow], fields: Int): Iterator[UnsafeRow] =
    new Iterator[UnsafeRow] {
      private val row = new UnsafeRow(fields)
      private var base: AnyRef = _
      private var (at, end) = (0L, 0L)

      override def hasNext: Boolean = {
        while (at == end && chunks.hasNext) {
          val chunk = chunks.next()
          base = chunk.getBaseObject
          at = chunk.getBaseOffset
          end = at + chunk.getSizeInBytes
        }
        at < end
      }

      override def next(): UnsafeRow = {
        if (!hasNext) throw new NoSuchElementException("no more rows")
        at = SizedRows.show(base, at, row)
        row
      }
    }
}
