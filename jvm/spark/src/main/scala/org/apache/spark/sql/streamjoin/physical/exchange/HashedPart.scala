package org.apache.spark.sql.streamjoin.physical.exchange

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Rows with their hashes in arrival order, in pages of [[SizedRows]].
 *
 * {{{
 *   row i   hash, place --> page and offset
 * }}}
 */
private[exchange] final class HashedPart {
  import HashedPart._

  private var hashes = new Array[Long](FewRows)
  private var places = new Array[Long](FewRows)
  private var count = 0
  private val pages = mutable.ArrayBuffer.empty[Array[Byte]]
  private var page = Array.emptyByteArray
  private var end = 0
  private var held = 0L

  def length: Int = count

  /** The bytes in use. */
  def bytes: Long = held + 16L * hashes.length

  def add(hash: Long, row: UnsafeRow): Unit = {
    val needed = SizedRows.needed(row)
    if (end + needed > page.length) begin(needed)
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, count * 2)
      places = Arrays.copyOf(places, count * 2)
    }
    hashes(count) = hash
    places(count) = (pages.length - 1).toLong << 32 | end
    count += 1
    end = SizedRows.write(row, page, end)
  }

  private def begin(needed: Int): Unit = {
    val size = math.max(needed, math.min(LargestPage, FirstPage << math.min(pages.length, 16)))
    page = new Array[Byte](size)
    pages += page
    held += size
    end = 0
  }

  def hash(i: Int): Long = hashes(i)

  /** Points `row` to a row, valid while the pages are. */
  def show(i: Int, row: UnsafeRow): Unit = {
    val page = pages((places(i) >>> 32).toInt)
    SizedRows.show(page, Platform.BYTE_ARRAY_OFFSET + (places(i) & 0xffffffffL), row)
  }

  /**
   * The rows in ascending order of their hashes. Rows of one hash keep their arrival order.
   *
   * @param shared the number of upper bits that all hashes have in common
   */
  def inOrder(shared: Int): Array[Int] = {
    // a key has the upper bits of the hash and the index of the row, so a sort of plain numbers
    // does most of the work
    val rowBits = 64 - java.lang.Long.numberOfLeadingZeros(math.max(count - 1, 1).toLong)
    val keys = new Array[Long](count)
    var i = 0
    while (i < count) {
      val upper = ((hashes(i) ^ Long.MinValue) << shared >>> 1 >>> rowBits) << rowBits
      keys(i) = upper | i
      i += 1
    }
    Arrays.sort(keys)
    val rows = new Array[Int](count)
    i = 0
    while (i < count) {
      val row = (keys(i) & (1L << rowBits) - 1).toInt
      var at = i
      while (
        at > 0 && keys(at - 1) >>> rowBits == keys(i) >>> rowBits &&
        hashes(rows(at - 1)) > hashes(row)
      ) {
        rows(at) = rows(at - 1)
        at -= 1
      }
      rows(at) = row
      i += 1
    }
    rows
  }
}

private object HashedPart {
  private val FewRows = 16
  private val FirstPage = 1 << 9
  private val LargestPage = 1 << 15
}
