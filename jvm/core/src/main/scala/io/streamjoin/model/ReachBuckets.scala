package io.streamjoin.model

/**
 * Where rows lie that meet by their times alone: in the bucket of their time, and, where a partner may lie in
 * the next one, in that too.
 *
 * {{{
 *        bucket 0              bucket 1              bucket 2
 *   |---------------------|---------------------|---------------------|
 *                    <-reach->
 *                       x  a row here is at home in 0, and a guest in 1
 * }}}
 *
 * Times of the right input count less a shift, so that those of partners are at most the reach apart, either way.
 * Nothing overflows: a number of a bucket may wrap around where buckets are one wide, but does so for both inputs
 * alike.
 *
 * Rule R31 of `docs/internals/rules.md`.
 *
 * @param shift what is taken off a time of the right input
 * @param reach how far the times of two partners are apart at most, not negative
 * @param width of a bucket, at least twice the reach: a row has one neighbour at most
 */
final case class ReachBuckets(shift: Long, reach: Long, width: Long) {
  require(reach >= 0 && reach <= ReachBuckets.Farthest && width > 0 && width - reach >= reach)

  private val (shiftBuckets, shiftRest) =
    (Math.floorDiv(shift, width), Math.floorMod(shift, width))

  /** As many times as wide. */
  def wider(times: Int): ReachBuckets = copy(width = Math.multiplyExact(width, times.toLong))

  /** The bucket in which a row is at home. */
  def home(side: Side, time: Long): Long = {
    val bucket = Math.floorDiv(time, width)
    if (side == Side.Left) bucket
    else if (Math.floorMod(time, width) < shiftRest) bucket - shiftBuckets - 1
    else bucket - shiftBuckets
  }

  /** -1 or 1 where a partner may be at home in the bucket before or after, else 0. */
  def neighbour(side: Side, time: Long): Int = {
    val in = place(side, time)
    if (in < reach) -1 else if (in >= width - reach) 1 else 0
  }

  private def place(side: Side, time: Long): Long = {
    val in = Math.floorMod(time, width)
    if (side == Side.Left) in
    else if (in < shiftRest) in - shiftRest + width
    else in - shiftRest
  }

  /** The partition in which the row is at home. */
  def homeIn(side: Side, time: Long, partitions: Int): Int =
    ReachBuckets.partition(home(side, time), partitions)

  /**
   * The partition in which the row is a guest, or [[ReachBuckets.NoPartition]]: in none, for all who may be its
   * partners are where it is.
   */
  def guestIn(side: Side, time: Long, partitions: Int): Int = {
    val next = neighbour(side, time)
    if (next == 0) ReachBuckets.NoPartition
    else {
      val bucket = home(side, time)
      val there = ReachBuckets.partition(bucket + next, partitions)
      if (there == ReachBuckets.partition(bucket, partitions)) ReachBuckets.NoPartition
      else there
    }
  }
}

object ReachBuckets {

  /** In the place of a partition: none that follows from a bucket. */
  val NoPartition: Int = -1

  /** Beyond it a reach is no better than none. */
  val Farthest: Long = Long.MaxValue / 16

  /**
   * As many buckets in a row as there are partitions lie in all of them; where each such turn begins is
   * drawn, or times that are all multiples of some unit would lie in few.
   */
  def partition(bucket: Long, partitions: Int): Int = {
    val turn = Math.floorDiv(bucket, partitions.toLong)
    val start = Math.floorMod(mixed(turn), partitions.toLong)
    Math.floorMod(Math.floorMod(bucket, partitions.toLong) + start, partitions.toLong).toInt
  }

  /** Source: the finalizer of SplitMix64. */
  private def mixed(x: Long): Long = {
    val a = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L
    val b = (a ^ (a >>> 27)) * 0x94d049bb133111ebL
    b ^ (b >>> 31)
  }

  /**
   * For partners of which the right one's time is at least the left one's less `before`, and at most that and
   * `after`.
   *
   * @param bothCopied whether rows of both inputs are guests, or of one of them only: a wider bucket has fewer
   *   guests, a narrower one is on more partitions at a time
   * @return none where they are too far apart for any bucket
   */
  def of(before: Long, after: Long, bothCopied: Boolean): Option[ReachBuckets] = {
    val known = Seq(before, after).forall(d => d > -Farthest && d < Farthest)
    Option.when(known && before + after >= 0 && before + after < Farthest) {
      val shift = Math.floorDiv(after - before, 2L)
      val reach = after - shift
      ReachBuckets(shift, reach, math.max(2L, reach * (if (bothCopied) 8 else 4)))
    }
  }
}
