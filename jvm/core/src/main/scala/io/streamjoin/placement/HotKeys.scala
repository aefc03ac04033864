package io.streamjoin.placement

import scala.collection.mutable

import io.streamjoin.model.Side

/**
 * A key with more rows than one task should have.
 *
 * @param hash the hash by which its rows are probed. Two keys with equal hashes are both spread if
 *   they have one partition; otherwise only the key in `partition` is
 * @param partition the partition of its rows before it is spread
 * @param from the first time bucket whose rows are spread; all buffered rows are before it
 * @param wider how many times as wide as needed its buckets are: with wider ones fewer rows are
 *   near an edge, and replicated
 */
final case class HotKey(hash: Long, partition: Int, from: Long, wider: Int = 1)

/**
 * The keys whose rows are spread over the partitions by time bucket, each from a bucket on.
 *
 * {{{
 *   bucket       from - 2   from - 1 | from   from + 1   from + 2
 *   partition        2          2    |   2        0          1        of a key in partition 2 of 3
 * }}}
 *
 * The first bucket belongs to the partition of the key, so there are no replicas at that edge:
 * the rows on both sides of it are in one partition. The next edge is the first with neighbours
 * in two partitions. Rows that were buffered before the key was found are all before the first
 * bucket, and stay in place.
 *
 * Immutable.
 *
 * @param buckets the narrowest ones
 */
final case class HotKeys(buckets: ReachBuckets, keys: Seq[HotKey]) {
  import HotKeys._

  require(buckets.width > 1, "numbers of buckets would wrap around, and have no order")

  /** Looked up for each row. Of several keys with one hash, the first counts. */
  private val byHash: mutable.LongMap[Spread] = mutable.LongMap.from(
    keys.reverse.map(key => key.hash -> new Spread(key, buckets.wider(key.wider)))
  )

  def size: Int = keys.length

  /** The widths of the buckets of the keys. */
  def widths: Seq[Long] = byHash.values.map(_.buckets.width).toSeq.distinct.sorted

  def contains(hash: Long): Boolean = byHash.contains(hash)

  /** The key with a hash, and with this partition while it is not spread; null if there is none. */
  private def find(hash: Long, keyPartition: Int): Spread = {
    val key = byHash.getOrNull(hash)
    if (key == null || keyPartition == ReachBuckets.NoPartition || keyPartition == key.partition)
      key
    else null
  }

  /**
   * The partition that owns a row; [[ReachBuckets.NoPartition]]: that of its key.
   *
   * @param keyPartition that of its key; [[ReachBuckets.NoPartition]]: of the keys with this hash, the
   *   spread one is meant
   */
  def owner(
      side: Side,
      hash: Long,
      time: Long,
      partitions: Int,
      keyPartition: Int
  ): Int = {
    val key = find(hash, keyPartition)
    if (key == null) ReachBuckets.NoPartition else key.owner(side, time, partitions)
  }

  /** The partition that has a replica of a row, or [[ReachBuckets.NoPartition]]. */
  def replica(
      side: Side,
      hash: Long,
      time: Long,
      partitions: Int,
      keyPartition: Int
  ): Int = {
    val key = find(hash, keyPartition)
    if (key == null) ReachBuckets.NoPartition else key.replica(side, time, partitions)
  }

  /** Adds keys. */
  def ++(more: Seq[HotKey]): HotKeys = copy(keys = keys ++ more)
}

object HotKeys {

  /** A key with its buckets. */
  private final class Spread(key: HotKey, val buckets: ReachBuckets) extends Serializable {

    /** The partition of its rows before it is spread. */
    def partition: Int = key.partition

    def owner(side: Side, time: Long, partitions: Int): Int = {
      val bucket = buckets.bucketOf(side, time)
      if (bucket < key.from) ReachBuckets.NoPartition
      else turned(ReachBuckets.partition(bucket, partitions), partitions)
    }

    def replica(side: Side, time: Long, partitions: Int): Int = {
      val there = buckets.replica(side, time, partitions, key.from)
      if (there == ReachBuckets.NoPartition) there else turned(there, partitions)
    }

    /** Turns the partitions of buckets so that the first bucket is in the partition of the key. */
    private def turned(place: Int, partitions: Int): Int =
      Math.floorMod(
        partition + place - ReachBuckets.partition(key.from, partitions),
        partitions
      )
  }
}
