package io.streamjoin.state.segment.pages

/**
 * Table of numbers by slot, 0 at first; the slot of a key follows from the key. Keys are
 * hashes, and their upper bits are the slot. Slots are in the order of keys, so probes in that
 * order read memory sequentially.
 *
 * @param expected for how many keys
 */
private[segment] class SlotPages(expected: Int) {
  import SlotPages._

  private val slots =
    2 * math.max(FewestRows, Integer.highestOneBit(math.max(1, expected) * 2 - 1))
  private val shift = Integer.numberOfLeadingZeros(slots) + 1
  private val pages =
    Array.fill(math.max(1, slots / PageSlots))(new Array[Int](math.min(slots, PageSlots)))

  /** How many keys there is room for, with two slots for each. */
  final def rows: Int = slots / 2

  final def slot(key: Long): Int = hash(key) >>> shift

  /** The number in the slot of the keys with this hash. */
  final def ofHash(hash: Int): Int = apply(hash >>> shift)

  final def apply(slot: Int): Int = pages(slot >>> PageShift)(slot & PageSlots - 1)

  final def update(slot: Int, number: Int): Unit =
    pages(slot >>> PageShift)(slot & PageSlots - 1) = number

  /** Bytes in memory. */
  def allocated: Long = pages.length.toLong * pages(0).length * 4L
}

private[segment] object SlotPages {
  private val FewestRows = 16
  private val PageShift = 14
  private val PageSlots = 1 << PageShift

  /**
   * The bits of a key that its slot is taken from, for any number of slots. The lowest bits
   * distinguish the few keys that are not hashes.
   */
  def hash(key: Long): Int = {
    val upper = (key >>> 32).toInt
    if (upper == upper >> 31) key.toInt << 28 else upper
  }
}
