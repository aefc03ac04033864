package io.streamjoin.state.segment

/**
 * A number for each of many slots, 0 at first; which slot is a key's follows from the key.
 *
 * @param expected for how many keys
 */
private[segment] final class SlotPages(expected: Int) {
  import SlotPages._

  /** For how many keys there are slots enough, two for each. */
  val rows: Int = math.max(FewestRows, Integer.highestOneBit(math.max(1, expected) * 2 - 1))

  private val mask = rows * 2 - 1

  private val pages: Array[Array[Int]] =
    Array.fill(math.max(1, rows * 2 / PageSlots))(new Array[Int](math.min(rows * 2, PageSlots)))

  def slot(key: Long): Int = hash(key) & mask

  /** The number in the slot of the keys with this hash. */
  def ofHash(hash: Int): Int = apply(hash & mask)

  def apply(slot: Int): Int = pages(slot >>> PageShift)(slot & PageSlots - 1)

  def update(slot: Int, number: Int): Unit =
    pages(slot >>> PageShift)(slot & PageSlots - 1) = number

  /** Bytes held in memory. */
  def allocated: Long = pages.length.toLong * pages(0).length * 4L
}

private[segment] object SlotPages {
  private val FewestRows = 64
  private val PageShift = 14
  private val PageSlots = 1 << PageShift

  /** What a key's slot is taken from, however many slots there are. */
  def hash(key: Long): Int = (key * 0x9e3779b97f4a7c15L >>> 32).toInt
}
