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

  private var changes = new Array[Marked[R]](FewRows)
  private var count = 0

  def length: Int = count

  def isEmpty: Boolean = count == 0

  def apply(i: Int): R = changes(i).row

  def isMarked(i: Int): Boolean = changes(i).isMarked

  def add(row: R, marked: Boolean): Unit = {
    if (count == changes.length) changes = Arrays.copyOf(changes, count * 2)
    changes(count) = new Marked(row, marked)
    count += 1
  }

  /** Moves some rows to the front of a part, in no order, and returns where they end. */
  def partition(from: Int, until: Int)(first: Int => Boolean): Int = {
    var end = from
    var i = from
    while (i < until) {
      if (first(i)) {
        val one = changes(i)
        changes(i) = changes(end)
        changes(end) = one
        end += 1
      }
      i += 1
    }
    end
  }

  /** Sorts a part. Changes that are equal in the order stay in their order. */
  def sort(from: Int, until: Int, order: Comparator[R]): Unit = if (until - from > 1) {
    val byRow: Comparator[Marked[R]] = (a, b) => order.compare(a.row, b.row)
    Arrays.sort(changes, from, until, byRow)
  }

  /** Keeps the first rows only. */
  def truncate(length: Int): Unit = count = length

  def clear(): Unit = {
    count = 0
    // a key with very many rows is a rare one
    if (changes.length > ManyRows) changes = new Array[Marked[R]](FewRows)
  }
}

private object ChangeBuffer {
  private val FewRows = 8
  private val ManyRows = 1 << 12

  private final class Marked[R](val row: R, val isMarked: Boolean)
}
