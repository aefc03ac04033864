package io.streamjoin.state.segment

/**
 * One of the chains of a row.
 *
 * @param shift position of the number of the older row, plus one, in the link
 * @param off flag of a row that is in no such chain
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
