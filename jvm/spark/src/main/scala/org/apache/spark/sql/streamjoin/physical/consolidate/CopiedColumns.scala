package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods.roundNumberOfBytesToNearestWord
import org.apache.spark.unsafe.bitset.BitSetMethods

/**
 * Factory of rows that consist of columns of one or two source rows. It copies the bytes of each
 * column. A projection would read the value and write it again. It needs no generated code.
 *
 * {{{
 *   source row   null bits | a word for each column               | variable-length parts
 *                            the value, or its offset and length
 *   new row      null bits | runs of copied words | further words | variable-length parts | spare
 * }}}
 *
 * The new row differs only in the offsets of the variable-length parts. It has the bytes that a
 * projection would write, provided that the source rows have such bytes. The row outlives the call.
 *
 * @param runs the columns to copy: each run is adjacent in a source row and in the new row
 * @param columns the number of columns of a new row; a column that is not copied is 0 until it is
 *   set
 * @param spare the number of bytes behind a new row, for a caller that sets a column of variable
 *   length
 */
private[physical] final class CopiedColumns private (
    runs: Array[CopiedColumns.Run],
    columns: Int,
    spare: Int
) {
  import CopiedColumns._

  private val bits = UnsafeRow.calculateBitSetWidthInBytes(columns)
  private val fixed = bits + columns * WordSize

  def apply(row: UnsafeRow): UnsafeRow = apply(row, row)

  def apply(first: UnsafeRow, second: UnsafeRow): UnsafeRow = {
    val size = fixed + variableBytes(first, second)
    val bytes = new Array[Byte](size + spare)
    var at = fixed
    var i = 0
    while (i < runs.length) {
      val run = runs(i)
      at = copy(run, if (run.ofFirst) first else second, bytes, at)
      i += 1
    }
    val made = new UnsafeRow(columns)
    made.pointTo(bytes, size)
    made
  }

  private def variableBytes(first: UnsafeRow, second: UnsafeRow): Int = {
    var size = 0
    var i = 0
    while (i < runs.length) {
      val run = runs(i)
      val row = if (run.ofFirst) first else second
      var k = 0
      while (k < run.variable.length) {
        size += held(row.getLong(run.variable(k)), run.reserved(k))
        k += 1
      }
      i += 1
    }
    size
  }

  /** @return the offset of the next variable-length part */
  private def copy(run: Run, row: UnsafeRow, into: Array[Byte], begin: Int): Int = {
    val base = row.getBaseObject
    val words =
      row.getBaseOffset + UnsafeRow.calculateBitSetWidthInBytes(row.numFields) + run.from * WordSize
    val here = Start + bits + run.to * WordSize
    Platform.copyMemory(base, words, into, here, run.length * WordSize)
    if (row.anyNull) copyNulls(run, row, into)
    var at = begin
    var k = 0
    while (k < run.variable.length) {
      val column = run.variable(k)
      val word = row.getLong(column)
      val bytes = held(word, run.reserved(k))
      if (bytes > 0) {
        Platform.copyMemory(base, row.getBaseOffset + place(word), into, Start + at, bytes)
      }
      // an empty value has an offset, too; a NULL has one only if bytes are reserved for it
      if (bytes > 0 || !row.isNullAt(column)) {
        val moved = at.toLong << 32 | word & 0xffffffffL
        Platform.putLong(into, here + (column - run.from) * WordSize, moved)
      }
      at += bytes
      k += 1
    }
    at
  }

  private def copyNulls(run: Run, row: UnsafeRow, into: Array[Byte]): Unit = {
    var k = 0
    while (k < run.length) {
      if (row.isNullAt(run.from + k)) BitSetMethods.set(into, Start, run.to + k)
      k += 1
    }
  }
}

private[physical] object CopiedColumns {

  /**
   * @param wanted the columns of a new row; the caller sets those that no source row has
   * @param first the columns of the first source row
   * @param second the columns of the second source row; empty: there is one source row
   * @param more the number of further columns behind `wanted`, which the caller sets
   * @param spare the number of bytes behind a new row
   */
  def of(
      wanted: Seq[Attribute],
      first: Seq[Attribute],
      second: Seq[Attribute] = Nil,
      more: Int = 0,
      spare: Int = 0
  ): CopiedColumns = {
    val placeOf = (first ++ second).map(_.exprId).zipWithIndex.reverse.toMap
    val places = wanted.map(a => placeOf.getOrElse(a.exprId, Nowhere)).toIndexedSeq
    val runs = places.indices.filter(places(_) != Nowhere).foldLeft(Vector.empty[Seq[Int]]) {
      (runs, to) =>
        val place = places(to)
        val goesOn = runs.nonEmpty && runs.last.last == to - 1 && places(to - 1) == place - 1 &&
          place != first.length
        if (goesOn) runs.init :+ (runs.last :+ to) else runs :+ Seq(to)
    }
    new CopiedColumns(
      runs.map { run =>
        val (to, place) = (run.head, places(run.head))
        val ofFirst = place < first.length
        val from = if (ofFirst) place else place - first.length
        val variable = run.filter(i => !UnsafeRow.isFixedLength(wanted(i).dataType))
        new Run(
          ofFirst,
          from,
          to,
          run.length,
          variable.map(_ - to + from).toArray,
          variable.map(i => UnsafeRow.isMutable(wanted(i).dataType)).toArray
        )
      }.toArray,
      wanted.length + more,
      spare
    )
  }

  private val WordSize = 8
  private val Nowhere = -1
  private val Start = Platform.BYTE_ARRAY_OFFSET

  /**
   * The bytes reserved for a value that can be updated in place, even if it is NULL: wide decimals
   * and intervals.
   */
  private val Reserved = 16

  private def place(word: Long): Int = (word >>> 32).toInt

  /** The number of bytes of a value in the variable-length part. */
  private def held(word: Long, reserved: Boolean): Int =
    if (reserved) Reserved else roundNumberOfBytesToNearestWord(word.toInt)

  /**
   * Columns that are adjacent in a source row and in the new row.
   *
   * @param ofFirst whether the source is the first row
   * @param from the index of the first column in the source row
   * @param to the index of the first column in the new row
   * @param length the number of columns
   * @param variable the indices, in the source row, of columns of variable length
   * @param reserved whether each of these has reserved bytes, whatever its value
   */
  private final class Run(
      val ofFirst: Boolean,
      val from: Int,
      val to: Int,
      val length: Int,
      val variable: Array[Int],
      val reserved: Array[Boolean]
  )
}
