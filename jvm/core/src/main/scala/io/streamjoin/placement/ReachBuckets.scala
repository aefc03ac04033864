package io.streamjoin.placement

import io.streamjoin.model.Side

/**
 * Time buckets for rows that match by their times: a row is in the bucket of its time. If a
 * partner may be in the next bucket, a replica is there.
 *
 * {{{
 *        bucket 0              bucket 1              bucket 2
 *   |---------------------|---------------------|---------------------|
 *                    <-reach->
 *                       x  bucket 0 owns this row, bucket 1 has a replica
 * }}}
 *
 * Times of the right input count minus a shift, so that partners are at most the reach apart,
 * either way. Bucket numbers may wrap around if buckets are one wide, but they do so for both
 * inputs alike.
 *
 * Rule R31 of `docs/internals/rules.md`.
 *
 * @param shift subtracted from the times of the right input
 * @param reach the largest distance between the times of two partners, not negative
 * @param width of a bucket, at least twice the reach: a row has one neighbour at most
 */
final case class ReachBuckets(shift: Long, reach: Long, width: Long) {
  require(reach >= 0 && reach <= ReachBuckets.Farthest && width > 0 && width - reach >= reach)

  private val (shiftBuckets, shiftRest) =
    (Math.floorDiv(shift, width), Math.floorMod(shift, width))

  /** The same buckets, this many times as wide. */
  def wider(times: Int): ReachBuckets = copy(width = Math.multiplyExact(width, times.toLong))

  /** The bucket that owns a row. */
  def bucketOf(side: Side, time: Long): Long = {
    val bucket = Math.floorDiv(time, width)
    if (side == Side.Left) bucket
    else if (Math.floorMod(time, width) < shiftRest) bucket - shiftBuckets - 1
    else bucket - shiftBuckets
  }

  /** -1 or 1 if a partner may be in the bucket before or after, else 0. */
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

  /** The partition that owns the row. */
  def owner(side: Side, time: Long, partitions: Int): Int =
    ReachBuckets.partition(bucketOf(side, time), partitions)

  /**
   * The partition that has a replica of the row; [[ReachBuckets.NoPartition]] if all its possible
   * partners are with it.
   *
   * @param from the first bucket that may have replicas
   */
  def replica(
      side: Side,
      time: Long,
      partitions: Int,
      from: Long = Long.MinValue
  ): Int = {
    val bucket = bucketOf(side, time)
    val next = bucket + neighbour(side, time)
    if (next == bucket || math.min(bucket, next) < from) ReachBuckets.NoPartition
    else {
      val there = ReachBuckets.partition(next, partitions)
      if (there == ReachBuckets.partition(bucket, partitions)) ReachBuckets.NoPartition else there
    }
  }
}

object ReachBuckets {

  /** Stands for no partition. An `Option` would be allocated for each row. */
  val NoPartition: Int = -1

  /** A larger reach would not limit anything. */
  val Farthest: Long = Long.MaxValue / 16

  /**
   * Consecutive buckets are spread over all partitions in turns. The start of each turn is
   * random: times that are multiples of some unit would otherwise fall into few partitions.
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
   * The buckets for partners of which the time of the right one is at least that of the left
   * one minus `before`, and at most that plus `after`.
   *
   * @param bothCopied whether rows of both inputs are replicated, or of one only: a wider
   *   bucket has fewer replicas, a narrower one uses more partitions at a time
   * @return none if they are too far apart for any bucket
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
