package io.streamjoin.join.changelog

import java.util.{Arrays, Comparator}

/**
 * Buffer of changes: rows with a mark each, and the number of their partners. One object is
 * reused for one join key after another.
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

  /** The number of partners that were added. */
  def partners(i: Int): Int = changes(i).partners

  def addPartners(i: Int, count: Int): Unit = changes(i).partners += count

  def add(row: R, marked: Boolean): Unit = {
    if (count == changes.length) changes = Arrays.copyOf(changes, count * 2)
    changes(count) = new Marked(row, marked)
    count += 1
  }

  /** Removes the changes of other rows. The order stays. */
  def retain(keeps: R => Boolean): Unit = {
    var kept = 0
    var i = 0
    while (i < count) {
      if (keeps(changes(i).row)) {
        changes(kept) = changes(i)
        kept += 1
      }
      i += 1
    }
    count = kept
  }

  /** Changes that are equal in the order stay in their order. */
  def sort(order: Comparator[R]): Unit = if (count > 1) {
    val byRow: Comparator[Marked[R]] = (a, b) => order.compare(a.row, b.row)
    Arrays.sort(changes, 0, count, byRow)
  }

  def clear(): Unit = {
    count = 0
    // a key with very many rows is a rare one
    if (changes.length > ManyRows) changes = new Array[Marked[R]](FewRows)
  }
}

private object ChangeBuffer {
  private val FewRows = 8
  private val ManyRows = 1 << 12

  private final class Marked[R](val row: R, val isMarked: Boolean) {
    var partners: Int = 0
  }
}
