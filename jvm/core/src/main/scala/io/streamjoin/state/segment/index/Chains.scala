package io.streamjoin.state.segment.index

import scala.collection.mutable

import io.streamjoin.state.segment.pages.{ChainKind, RowPages, SlotPages}

/**
 * Index over the rows of a segment: the rows of one slot are a chain, newest first.
 *
 * A walk skips deleted rows until no version can restore them. Then [[forget]] removes them
 * from the chain. A chain of few rows is cleared at once. A long chain, of a key with many
 * rows, is cleared when half as many rows were deleted as were live. So the cost of a deletion
 * does not depend on the rows of the key, and no chain is much longer than its live rows.
 *
 * @param rows the rows whose links are the chains
 * @param kind which of the chains of the rows
 * @param expected how many rows there may be
 */
private[segment] class Chains(rows: RowPages, kind: ChainKind, expected: Int)
    extends SlotPages(expected) {
  import Chains._

  /** The long chains, by slot. */
  private var waiting: mutable.LongMap[Waiting] = _

  /** @param hashed the lookup value of the row */
  final def add(i: Int, hashed: Long): Unit = {
    val s = slot(hashed)
    rows.setOlder(i, kind, apply(s))
    update(s, i + 1)
  }

  /** Removes the newest row of its chain. */
  final def undo(i: Int, hashed: Long): Unit = update(slot(hashed), rows.older(i, kind))

  /** Removes a deleted row from its chain, now or later. */
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

  /** Removes all deleted rows from a chain, and returns the number of rows left. */
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

  /** Chains up to this length are cleared at every deletion. */
  private val AtOnce = 16
  private val BytesOfWaiting = 64L

  /** @param until how many rows of the chain must be deleted before it is cleared */
  private final class Waiting(val until: Int) {
    var deleted = 0
  }
}
