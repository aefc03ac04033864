package io.streamjoin.benchmarks

/** The only source of randomness: a number for each (seed, row), the same on every engine. */
object Hash {

  /** The finaliser of SplitMix64. */
  def mix(value: Long): Long = {
    val a = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L
    val b = (a ^ (a >>> 27)) * 0x94d049bb133111ebL
    b ^ (b >>> 31)
  }

  def of(seed: Long, row: Long): Long = mix(mix(seed) + row * 0x9e3779b97f4a7c15L)

  /** A number from 0 to `bound` - 1. */
  def below(bound: Long, seed: Long, row: Long): Long =
    if (bound <= 1) 0 else java.lang.Long.remainderUnsigned(of(seed, row) >>> 1, bound)
}
