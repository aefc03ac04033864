package io.streamjoin.state.segment

import scala.collection.mutable

/**
 * An index over the rows of a segment: the rows of one slot are a chain, the newest first.
 *
 * Rows that are taken away are passed over by whoever walks a chain, until no version can want them
 * back; then [[forget]] takes them out. A chain of a few rows is cleared at once, a long one, of a
 * key that many rows have, when half as many have gone as were left: what it costs to take a row away
 * does not depend on how many have its key, and no chain is much longer than the rows that are there.
 *
 * @param rows in whose links the chains are kept
 * @param kind which of the chains of the rows
 * @param expected how many rows there may be
 */
private[segment] class Chains(rows: ChainedRows, kind: ChainKind, expected: Int)
    extends SlotPages(expected) {
  import Chains._

  /** The long chains, by slot. */
  private var waiting: mutable.LongMap[Waiting] = _

  /** @param hashed what the row is found by */
  final def add(i: Int, hashed: Long): Unit = {
    val s = slot(hashed)
    rows.setOlder(i, kind, apply(s))
    update(s, i + 1)
  }

  /** Takes out the newest row of its chain. */
  final def undo(i: Int, hashed: Long): Unit = update(slot(hashed), rows.older(i, kind))

  /** Takes a row that has gone out of its chain, now or later. */
  final def forget(i: Int, hashed: Long): Unit = if (!rows.isOff(i, kind)) {
    val s = slot(hashed)
    val known = if (waiting == null) null else waiting.getOrNull(s)
    if (known != null && known.deleted + 1 < known.until) known.deleted += 1
    else {
      val left = clearChain(s)
      if (left > AtOnce) {
        if (waiting == null) waiting = mutable.LongMap.empty
        waiting(s) = new Waiting(left / 2)
      } else if (known != null) waiting -= s
    }
  }

  /** Takes all rows that have gone out of a chain, and tells how many are left. */
  private def clearChain(slot: Int): Int = {
    var left = 0
    var newer = -1
    var i = apply(slot) - 1
    while (i >= 0) {
      val older = rows.older(i, kind)
      if (rows.isDeleted(i)) {
        if (newer < 0) update(slot, older) else rows.setOlder(newer, kind, older)
        rows.setOff(i, kind)
      } else {
        newer = i
        left += 1
      }
      i = older - 1
    }
    left
  }

  override def allocated: Long =
    super.allocated + (if (waiting == null) 0L else waiting.size * BytesOfWaiting)
}

private object Chains {

  /** So many rows of a chain are looked through without much thought. */
  private val AtOnce = 16
  private val BytesOfWaiting = 64L

  /** @param until how many rows of the chain are to be gone before it is cleared */
  private final class Waiting(val until: Int) {
    var deleted = 0
  }
}

/**
 * One of the chains that a row is in.
 *
 * @param shift where the number of the older row, plus one, is in its link
 * @param off the flag of a row that is in no such chain
 */
private[segment] final class ChainKind(val shift: Int, val off: Long)

private[segment] object ChainKind {

  /** Bits of the number of a row. */
  val Bits = 29
  val Mask: Int = (1 << Bits) - 1

  val OfKey = new ChainKind(shift = 64 - Bits, off = 8L)
  val OfTime = new ChainKind(shift = 64 - 2 * Bits, off = 16L)
  val all: Seq[ChainKind] = Seq(OfKey, OfTime)
}

/** The rows as their chains know them. */
private[segment] trait ChainedRows {

  def isDeleted(i: Int): Boolean

  /** The next older row, as its number plus one; 0 where there is none. */
  def older(i: Int, kind: ChainKind): Int
  def setOlder(i: Int, kind: ChainKind, older: Int): Unit

  def isOff(i: Int, kind: ChainKind): Boolean
  def setOff(i: Int, kind: ChainKind): Unit
}
