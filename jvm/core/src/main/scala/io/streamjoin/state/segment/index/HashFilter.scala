package io.streamjoin.state.segment.index

import java.util.BitSet

/**
 * Bloom filter of hashes: it passes every added hash, and about one in a hundred of the others,
 * with 10 bits for each hash.
 *
 * Source: A. Kirsch, M. Mitzenmacher, "Less Hashing, Same Performance: Building a Better Bloom
 * Filter". All bits of a hash follow from two numbers.
 *
 * @param expected how many hashes there will be
 */
private[segment] final class HashFilter(expected: Int) {
  import HashFilter._

  private val size = math.min(math.max(1, expected) * BitsPerHash, Int.MaxValue.toLong)
  private val bits = new BitSet(size.toInt)

  def add(hash: Int): Unit = {
    val mixed = mix(hash)
    for (n <- 0 until BitsOfHash) bits.set(bit(mixed, n))
  }

  /** Whether the hash may have been added. */
  def mayContain(hash: Int): Boolean = {
    val mixed = mix(hash)
    var n = 0
    while (n < BitsOfHash && bits.get(bit(mixed, n))) n += 1
    n == BitsOfHash
  }

  /** Bytes in memory. */
  def allocated: Long = bits.size / 8

  private def bit(mixed: Long, n: Int): Int = {
    val at = mixed.toInt + n * (mixed >>> 32).toInt
    (Integer.toUnsignedLong(at) * size >>> 32).toInt
  }
}

private object HashFilter {
  private val BitsPerHash = 10L
  private val BitsOfHash = 6

  /** The finalizer of MurmurHash3: each bit of the result depends on all of the hash. */
  private def mix(hash: Int): Long = {
    var h = hash.toLong + 0x9e3779b97f4a7c15L
    h = (h ^ h >>> 33) * 0xff51afd7ed558ccdL
    h = (h ^ h >>> 33) * 0xc4ceb9fe1a85ec53L
    h ^ h >>> 33
  }
}
