package io.streamjoin.state.segment

/**
 * A number for each of many slots, 0 at first; which slot is a key's follows from the key. Keys are hashes: their
 * upper bits tell them apart. Slots are in the order of keys, so that whoever comes with keys in that order goes
 * through memory from its begin to its end.
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

  /** For how many keys there are slots enough, two for each. */
  final def rows: Int = slots / 2

  final def slot(key: Long): Int = hash(key) >>> shift

  /** The number in the slot of the keys with this hash. */
  final def ofHash(hash: Int): Int = apply(hash >>> shift)

  final def apply(slot: Int): Int = pages(slot >>> PageShift)(slot & PageSlots - 1)

  final def update(slot: Int, number: Int): Unit =
    pages(slot >>> PageShift)(slot & PageSlots - 1) = number

  /** Bytes held in memory. */
  def allocated: Long = pages.length.toLong * pages(0).length * 4L
}

private[segment] object SlotPages {
  private val FewestRows = 16
  private val PageShift = 14
  private val PageSlots = 1 << PageShift

  /**
   * What a key's slot is taken from, however many slots there are. The lowest bits tell the few keys apart that
   * are no hashes.
   */
  def hash(key: Long): Int = {
    val upper = (key >>> 32).toInt
    if (upper == upper >> 31) key.toInt << 28 else upper
  }
}
