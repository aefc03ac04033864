package io.streamjoin.state.segment

/**
 * Bloom filter of hashes: it passes every added hash, and about one in a hundred of the others,
 * with 10 bits for each hash.
 *
 * {{{
 *   hash -> a line of 512 bits -> 6 bits of it
 * }}}
 *
 * Source: F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters".
 * All bits of a hash are in one cache line, so a lookup costs one access to memory.
 *
 * @param expected how many hashes there will be
 */
private[segment] final class HashFilter(expected: Int) {
  import HashFilter._

  private val lines = math.max(1L, (expected * BitsPerHash + LineBits - 1) / LineBits)
  private val pages = Array.tabulate(((lines + PageLines - 1) / PageLines).toInt) { p =>
    new Array[Long](math.min(PageLines.toLong, lines - p.toLong * PageLines).toInt * LineWords)
  }

  def add(hash: Int): Unit = {
    val mixed = mix(hash)
    val line = lineOf(mixed)
    val page = pages(line >>> PageShift)
    val start = startOf(line)
    var bits = bitsOf(mixed)
    var n = 0
    while (n < BitsOfHash) {
      page(start + wordOf(bits)) |= 1L << bits
      bits >>>= BitShift
      n += 1
    }
  }

  /** Whether the hash may have been added. */
  def mayContain(hash: Int): Boolean = {
    val mixed = mix(hash)
    val line = lineOf(mixed)
    val page = pages(line >>> PageShift)
    val start = startOf(line)
    var bits = bitsOf(mixed)
    var all = 1L
    var n = 0
    while (n < BitsOfHash) {
      all &= page(start + wordOf(bits)) >>> bits
      bits >>>= BitShift
      n += 1
    }
    (all & 1L) != 0
  }

  /** Bytes in memory. */
  def allocated: Long = lines * LineWords * 8L

  private def lineOf(mixed: Long): Int = ((mixed >>> 32) * lines >>> 32).toInt
}

private object HashFilter {
  private val BitsPerHash = 10L
  private val LineWords = 8
  private val LineBits = LineWords * 64

  /** Bits of a hash, and how many bits of the mixed hash find each. */
  private val BitsOfHash = 6
  private val BitShift = 9

  private val PageShift = 11
  private val PageLines = 1 << PageShift

  private def startOf(line: Int): Int = (line & PageLines - 1) * LineWords

  /** The word of a line; a shift by the rest takes the bit. */
  private def wordOf(bits: Long): Int = (bits >>> 6).toInt & LineWords - 1

  private def bitsOf(mixed: Long): Long = mixed * 0xd6e8feb86659fd93L >>> 64 - BitsOfHash * BitShift

  /** The finalizer of MurmurHash3: each bit of the result depends on all of the hash. */
  private def mix(hash: Int): Long = {
    var h = hash.toLong + 0x9e3779b97f4a7c15L
    h = (h ^ h >>> 33) * 0xff51afd7ed558ccdL
    h = (h ^ h >>> 33) * 0xc4ceb9fe1a85ec53L
    h ^ h >>> 33
  }
}
