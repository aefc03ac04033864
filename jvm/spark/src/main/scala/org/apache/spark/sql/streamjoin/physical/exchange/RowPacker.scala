package org.apache.spark.sql.streamjoin.physical.exchange

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Packs rows into bytes by partition number ([[SizedRows]]).
 *
 * {{{
 *   small output    one array of bytes per number
 *   large output    chunks of rows with one number, in arrival order
 * }}}
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

  /** The bytes by number; null if it has no rows. */
  def toBytes: Array[Array[Byte]] = Array.tabulate(count) { number =>
    if (packed(number) == null) null else Arrays.copyOf(packed(number), ends(number))
  }

  /** All rows in chunks with their numbers: the added rows, then those of `rows`. */
  def chunks(
      rows: Iterator[NumberedRow]
  ): Iterator[Product2[Int, UnsafeRow]] = new Iterator[Product2[Int, UnsafeRow]] {
    private var ready: (Int, UnsafeRow) = _

    /** When all rows are read, the first number whose rest is not emitted yet. */
    private var emptied = 0

    override def hasNext: Boolean = {
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
      ready != null
    }

    override def next(): Product2[Int, UnsafeRow] = {
      if (!hasNext) throw new NoSuchElementException("no more chunks")
      val chunk = ready
      ready = null
      chunk
    }
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
  def chunkOf(bytes: Array[Byte], end: Int): UnsafeRow = {
    val row = new UnsafeRow(0)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, end)
    row
  }

  /**
   * The rows of a chunk, in one reused object.
   *
   * @param fields the number of columns
   */
  def rows(chunk: UnsafeRow, fields: Int): Iterator[UnsafeRow] = {
    val begin = chunk.getBaseOffset
    SizedRows.read(chunk.getBaseObject, begin, begin + chunk.getSizeInBytes, fields)
  }
}
