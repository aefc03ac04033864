package io.streamjoin.join.changelog

import java.util.Arrays

import io.streamjoin.model.Side

/**
 * Groups the changes of one join key by row identity, in the order of the first change of each
 * row.
 */
private[changelog] final class ByIdentity[R](rows: ChangelogRows[R]) {
  private var count = 0

  // rows in a table of open addressing, by their identity: the number of a row, plus one
  private var slots = new Array[Int](ByIdentity.FewSlots)
  // half as many
  private var first = new Array[Int](slots.length / 2)
  private var last = new Array[Int](slots.length / 2)
  private var next = new Array[Int](slots.length / 2)
  private var ends = new Array[Int](slots.length / 2)
  private val sorted = new ChangeBuffer[R]

  /** The number of different rows. */
  def length: Int = count

  /** The end of the changes of the n-th row; they begin at the end of those before. */
  def end(n: Int): Int = ends(n)

  /** Sorts the changes. */
  def gather(side: Side, changes: ChangeBuffer[R]): Unit =
    if (ofOneRow(side, changes)) {
      ends(0) = changes.length
      count = math.min(1, changes.length)
    } else {
      find(side, changes)
      sorted.clear()
      var n = 0
      while (n < count) {
        var i = first(n)
        while (i >= 0) {
          sorted.add(changes(i), changes.isMarked(i))
          i = next(i)
        }
        ends(n) = sorted.length
        n += 1
      }
      changes.exchange(sorted)
    }

  private def ofOneRow(side: Side, changes: ChangeBuffer[R]): Boolean = {
    var i = 1
    while (i < changes.length && isSame(side, changes(0), changes(i))) i += 1
    i >= changes.length
  }

  private def find(side: Side, changes: ChangeBuffer[R]): Unit = {
    val mask = makeRoom(changes.length) - 1
    count = 0
    var i = 0
    while (i < changes.length) {
      var slot = ByIdentity.mixed(rows(side).identity(changes(i))) & mask
      while (slots(slot) > 0 && !isSame(side, changes(first(slots(slot) - 1)), changes(i)))
        slot = slot + 1 & mask
      next(i) = -1
      if (slots(slot) == 0) {
        first(count) = i
        last(count) = i
        count += 1
        slots(slot) = count
      } else {
        val n = slots(slot) - 1
        next(last(n)) = i
        last(n) = i
      }
      i += 1
    }
  }

  private def isSame(side: Side, a: R, b: R): Boolean =
    if (rows(side).keyed) rows(side).sameUniqueKey(a, b) else rows(side).compare(a, b) == 0

  /** Returns the number of slots, at least two for each change. */
  private def makeRoom(changes: Int): Int = {
    val used = Integer.highestOneBit(changes) * 4
    if (slots.length < used) {
      first = new Array[Int](used / 2)
      last = new Array[Int](used / 2)
      next = new Array[Int](used / 2)
      ends = new Array[Int](used / 2)
      slots = new Array[Int](used)
    } else Arrays.fill(slots, 0, used, 0)
    used
  }
}

private object ByIdentity {
  private val FewSlots = 32

  private def mixed(identity: Long): Int = (identity * 0x9e3779b97f4a7c15L >>> 32).toInt
}
