package org.apache.spark.sql.streamjoin.physical.consolidate

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods.roundNumberOfBytesToNearestWord
import org.apache.spark.unsafe.bitset.BitSetMethods

/**
 * Rows that are made of columns of one or two others and of nothing else: what each column has in their bytes is
 * copied, where a projection would make a value of it and write that. No code is generated for it.
 *
 * {{{
 *   first, second    null bits | a word for each column                        | variable parts
 *                                the value, or where it is and how many bytes
 *   a row made       null bits | runs of words, one after the other | more | variable parts | spare
 * }}}
 *
 * In the rows made only the places of variable parts are others. Each has the bytes that a projection would give it,
 * as long as the rows that it is made of have those, too; it outlives the call.
 *
 * @param runs the columns that stand side by side there and here
 * @param columns how many columns there are: what comes from no other row is 0 until it is set
 * @param spare how many bytes there are behind a row, for whoever sets one of those that has a variable part
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

  /** @return where the variable part of the next column goes */
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
      // a value that has no bytes is somewhere all the same, but what is NULL
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
   * @param wanted the columns of the rows to make; those that no other row has are left to whoever sets them
   * @param first those of the rows that they are made of
   * @param second those of the others, where they are made of two
   * @param more how many columns there are behind them, to be set
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

  /** What values have that can be changed in their place, also those that are NULL now: wide decimals and intervals. */
  private val Reserved = 16

  private def place(word: Long): Int = (word >>> 32).toInt

  /** How many bytes a value has beside its word. */
  private def held(word: Long, reserved: Boolean): Int =
    if (reserved) Reserved else roundNumberOfBytesToNearestWord(word.toInt)

  /**
   * Columns that stand side by side, here and where they come from.
   *
   * @param from the number of the first, there
   * @param to the number of the first, here
   * @param variable the numbers, there, of those with a variable part
   * @param reserved of each of these, whether it has its bytes whatever its value
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
