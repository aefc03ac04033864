package io.streamjoin.state.segment

import java.util.BitSet

/**
 * In-memory part of pages of rows on the local disk: their extents, and the flags of rows.
 *
 * @param extents of each page
 */
private[segment] final class SpilledPages(val extents: Array[Extent]) {
  import SpilledPages._

  /** The rows that have been joined. */
  val matched: BitSet = new BitSet

  /** The rows that were removed or evicted. */
  val deleted: BitSet = new BitSet

  /** Bytes in memory. */
  def allocated: Long = extents.length * BytesOfExtent + (matched.size + deleted.size) / 8
}

private object SpilledPages {

  /** An extent, and the reference to it. */
  private val BytesOfExtent = 32L
}
