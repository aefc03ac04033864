package io.streamjoin.join.changelog

import java.util.{Arrays, Comparator}

/**
 * Buffer of changes: rows with a mark each. One object is reused for one join key after
 * another.
 *
 * @tparam R a row
 */
final class ChangeBuffer[R] {
  import ChangeBuffer._

  private var rows = new Array[AnyRef](FewRows)
  private var marks = new Array[Boolean](FewRows)
  private var count = 0

  def length: Int = count

  def isEmpty: Boolean = count == 0

  def apply(i: Int): R = rows(i).asInstanceOf[R]

  def isMarked(i: Int): Boolean = marks(i)

  def add(row: R, marked: Boolean): Unit = {
    if (count == rows.length) {
      rows = Arrays.copyOf(rows, count * 2)
      marks = Arrays.copyOf(marks, count * 2)
    }
    rows(count) = row.asInstanceOf[AnyRef]
    marks(count) = marked
    count += 1
  }

  def swap(i: Int, j: Int): Unit = if (i != j) {
    val row = rows(i)
    val marked = marks(i)
    rows(i) = rows(j)
    marks(i) = marks(j)
    rows(j) = row
    marks(j) = marked
  }

  /** Moves some rows to the front of a part, in no order, and returns where they end. */
  def partition(from: Int, until: Int)(first: Int => Boolean): Int = {
    var end = from
    var i = from
    while (i < until) {
      if (first(i)) {
        swap(i, end)
        end += 1
      }
      i += 1
    }
    end
  }

  /** Sorts a part of which all rows have the same mark. */
  def sortAlike(from: Int, until: Int, order: Comparator[R]): Unit =
    if (until - from > 1) Arrays.sort(rows.asInstanceOf[Array[R with AnyRef]], from, until, order)

  /** Sorts a part. */
  def sort(from: Int, until: Int, order: Comparator[R]): Unit = {
    val (someRows, someMarks) =
      (Arrays.copyOfRange(rows, from, until), Arrays.copyOfRange(marks, from, until))
    val places = Array.tabulate[Integer](until - from)(Integer.valueOf(_))
    Arrays.sort(
      places,
      (a: Integer, b: Integer) =>
        order.compare(someRows(a).asInstanceOf[R], someRows(b).asInstanceOf[R])
    )
    for (i <- places.indices) {
      rows(from + i) = someRows(places(i))
      marks(from + i) = someMarks(places(i))
    }
  }

  /** Exchanges the contents of two buffers. */
  def exchange(other: ChangeBuffer[R]): Unit = {
    val rows = this.rows
    val marks = this.marks
    val count = this.count
    this.rows = other.rows
    this.marks = other.marks
    this.count = other.count
    other.rows = rows
    other.marks = marks
    other.count = count
  }

  /** Keeps the first rows only. */
  def truncate(length: Int): Unit = count = length

  def clear(): Unit = {
    count = 0
    // a key with very many rows is a rare one
    if (rows.length > ManyRows) {
      rows = new Array[AnyRef](FewRows)
      marks = new Array[Boolean](FewRows)
    }
  }
}

private object ChangeBuffer {
  private val FewRows = 8
  private val ManyRows = 1 << 12
}
