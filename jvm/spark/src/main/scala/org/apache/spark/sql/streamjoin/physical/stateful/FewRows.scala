package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.util.MutablePair

/**
 * Rows by the number of the partition that they go to, as bytes in memory: the size of each and itself.
 *
 * @param count above all numbers
 */
private[stateful] final class FewRows(count: Int) {
  import FewRows._

  private val ends = new Array[Int](count)
  private val taken = new Array[Array[Byte]](count)
  private var all = 0L
  private var rowCount = 0L

  /** How many bytes there are. */
  def size: Long = all

  def rows: Long = rowCount

  def add(number: Int, row: UnsafeRow): Unit = {
    val (begin, size) = (ends(number), row.getSizeInBytes)
    val end = begin + SizeBytes + size
    if (taken(number) == null) taken(number) = new Array[Byte](math.max(FirstBytes, end))
    else if (taken(number).length < end)
      taken(number) = Arrays.copyOf(taken(number), math.max(end, 2 * taken(number).length))
    Platform.putLong(taken(number), Platform.BYTE_ARRAY_OFFSET + begin, size)
    row.writeToMemory(taken(number), Platform.BYTE_ARRAY_OFFSET + begin + SizeBytes)
    ends(number) = end
    all += SizeBytes + size
    rowCount += 1
  }

  /** By number; null where there is no row. */
  def toBytes: Array[Array[Byte]] = Array.tabulate(count) { number =>
    if (taken(number) == null) null else Arrays.copyOf(taken(number), ends(number))
  }

  /** Those that were added, each with its number. Each overwrites the one before. */
  def numbered: Iterator[Product2[Int, InternalRow]] = {
    val pair = new MutablePair[Int, InternalRow]
    (0 until count).iterator.filter(taken(_) != null).flatMap { number =>
      read(taken(number), ends(number), 0).map(pair.update(number, _))
    }
  }
}

private[stateful] object FewRows {

  /** Keeps rows at multiples of a word. */
  private val SizeBytes = 8
  private val FirstBytes = 1 << 10

  /**
   * The rows of one number, each overwriting the one before.
   *
   * @param fields how many columns a row has
   */
  def read(bytes: Array[Byte], fields: Int): Iterator[UnsafeRow] = read(bytes, bytes.length, fields)

  private def read(bytes: Array[Byte], end: Int, fields: Int): Iterator[UnsafeRow] =
    new Iterator[UnsafeRow] {
      private val row = new UnsafeRow(fields)
      private var place = 0

      override def hasNext: Boolean = place < end

      override def next(): UnsafeRow = {
        val size = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + place).toInt
        row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + place + SizeBytes, size)
        place += SizeBytes + size
        row
      }
    }
}
