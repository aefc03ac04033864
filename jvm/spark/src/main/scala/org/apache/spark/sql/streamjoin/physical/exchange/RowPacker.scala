package org.apache.spark.sql.streamjoin.physical.exchange

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Rows by the number of the partition that they go to, as bytes ([[SizedRows]]).
 *
 * {{{
 *   few rows    all of a number are one array of bytes
 *   more        chunks of rows of one number, in their order: whatever moves a row moves a chunk, at the
 *               price of one. Spark writes the size of each row, and reads it back byte by byte
 * }}}
 *
 * @param count above all numbers
 * @param largest how many bytes a chunk has at most, if it has several rows
 */
private[physical] final class RowPacker(count: Int, largest: Int = RowPacker.LargestChunk) {
  import RowPacker._

  private val ends = new Array[Int](count)
  private val packed = new Array[Array[Byte]](count)
  private val most = math.max(FirstBytes, math.min(largest, AtMost / math.max(1, count)))
  private var all = 0L
  private var rowCount = 0L

  /** How many bytes have been added. */
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

  /** By number; null where there is no row. */
  def toBytes: Array[Array[Byte]] = Array.tabulate(count) { number =>
    if (packed(number) == null) null else Arrays.copyOf(packed(number), ends(number))
  }

  /** Those that were added, and those that follow, in chunks, each with its number. */
  def chunks(
      rows: Iterator[NumberedRow]
  ): Iterator[Product2[Int, UnsafeRow]] = new Iterator[Product2[Int, UnsafeRow]] {
    private var ready: (Int, UnsafeRow) = _

    /** The numbers before it have given what they had, once all rows have been read. */
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

  /** What all chunks that are begun may take. */
  private val AtMost = 1 << 24

  /** Rows as bytes, as something that Spark moves as it moves a row; it has no columns. */
  def chunkOf(bytes: Array[Byte], end: Int): UnsafeRow = {
    val row = new UnsafeRow(0)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, end)
    row
  }

  /**
   * The rows of a chunk; each overwrites the one before.
   *
   * @param fields how many columns a row has
   */
  def rows(chunk: UnsafeRow, fields: Int): Iterator[UnsafeRow] = {
    val begin = chunk.getBaseOffset
    SizedRows.read(chunk.getBaseObject, begin, begin + chunk.getSizeInBytes, fields)
  }
}
