package io.streamjoin.placement

import io.streamjoin.model.Side

/**
 * A key with more rows than one task should have.
 *
 * @param hash the hash by which its rows are probed. Of two keys with one hash both are spread
 *   if they are in one partition, else only one
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
 * Immutable, and looked up for each row: a table of hashes with open addressing.
 *
 * @param buckets the narrowest ones
 */
final case class HotKeys(buckets: ReachBuckets, keys: Seq[HotKey]) {
  require(buckets.width > 1, "numbers of buckets would wrap around, and have no order")

  private val mask: Int = Integer.highestOneBit(math.max(keys.length, 1)) * 4 - 1

  /** By slot: the index of a key plus one, or 0. */
  private val table: Array[Int] = {
    val places = new Array[Int](mask + 1)
    for ((key, i) <- keys.zipWithIndex) {
      var place = key.hash.toInt & mask
      while (places(place) != 0) place = (place + 1) & mask
      places(place) = i + 1
    }
    places
  }

  private val (hashes, partitionOf, fromOf) =
    (keys.map(_.hash).toArray, keys.map(_.partition).toArray, keys.map(_.from).toArray)

  private val bucketsOf: Array[ReachBuckets] = {
    val byWidth = keys.map(_.wider).distinct.map(w => w -> buckets.wider(w)).toMap
    keys.map(key => byWidth(key.wider)).toArray
  }

  def size: Int = keys.length

  /** The widths of the buckets of the keys. */
  def widths: Seq[Long] = bucketsOf.toSeq.map(_.width).distinct.sorted

  def contains(hash: Long): Boolean = find(hash) >= 0

  private def find(hash: Long): Int = {
    var place = hash.toInt & mask
    while (table(place) != 0) {
      if (hashes(table(place) - 1) == hash) return table(place) - 1
      place = (place + 1) & mask
    }
    -1
  }

  /** The same for a key with this partition while it is not spread. */
  private def find(hash: Long, keyPartition: MaybePartition): Int = {
    val key = find(hash)
    if (key < 0 || keyPartition.isEmpty || keyPartition.contains(partitionOf(key))) key else -1
  }

  /**
   * The partition that owns a row; none: that of its key.
   *
   * @param keyPartition that of its key; none: of the keys with this hash, the spread one is meant
   */
  def owner(
      side: Side,
      hash: Long,
      time: Long,
      partitions: Int,
      keyPartition: MaybePartition
  ): MaybePartition = {
    val key = find(hash, keyPartition)
    if (key < 0) MaybePartition.None
    else {
      val bucket = bucketsOf(key).bucketOf(side, time)
      if (bucket < fromOf(key)) MaybePartition.None
      else turned(key, ReachBuckets.partition(bucket, partitions), partitions)
    }
  }

  /** The partition that has a replica of a row. */
  def replica(
      side: Side,
      hash: Long,
      time: Long,
      partitions: Int,
      keyPartition: MaybePartition
  ): MaybePartition = {
    val key = find(hash, keyPartition)
    val there =
      if (key < 0) MaybePartition.None
      else bucketsOf(key).replica(side, time, partitions, fromOf(key))
    if (there.isEmpty) there else turned(key, there.get, partitions)
  }

  /** Turns the partitions of buckets so that the first bucket is in the partition of the key. */
  private def turned(key: Int, partition: Int, partitions: Int): MaybePartition = MaybePartition(
    Math.floorMod(
      partitionOf(key) + partition - ReachBuckets.partition(fromOf(key), partitions),
      partitions
    )
  )

  /** Adds keys. */
  def ++(more: Seq[HotKey]): HotKeys = copy(keys = keys ++ more)
}
