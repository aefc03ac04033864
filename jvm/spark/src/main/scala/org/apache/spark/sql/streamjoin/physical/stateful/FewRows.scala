package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.util.MutablePair

/**
 * Rows by the number of the partition that they go to, as bytes in memory ([[SizedRows]]).
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
    val begin = ends(number)
    val end = begin + SizedRows.needed(row)
    if (taken(number) == null) taken(number) = new Array[Byte](math.max(FirstBytes, end))
    else if (taken(number).length < end)
      taken(number) = Arrays.copyOf(taken(number), math.max(end, 2 * taken(number).length))
    ends(number) = SizedRows.write(row, taken(number), begin)
    all += end - begin
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
  private val FirstBytes = 1 << 10
  private val Start: Long = Platform.BYTE_ARRAY_OFFSET

  /**
   * The rows of one number, each overwriting the one before.
   *
   * @param fields how many columns a row has
   */
  def read(bytes: Array[Byte], fields: Int): Iterator[UnsafeRow] = read(bytes, bytes.length, fields)

  private def read(bytes: Array[Byte], end: Int, fields: Int): Iterator[UnsafeRow] =
    SizedRows.read(bytes, Start, Start + end, fields)
}
