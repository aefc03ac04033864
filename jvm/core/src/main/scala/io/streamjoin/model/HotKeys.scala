package io.streamjoin.model

/**
 * A key with more rows than one task is to have.
 *
 * @param hash that its rows are looked up by; of two keys with one hash both are spread if they lie together, and one
 *   if not
 * @param partition where its rows lie that are before
 * @param from the first bucket of time whose rows are spread, after those of all rows that lie there already
 * @param wider how many times as wide its buckets are as they have to be: of wider ones fewer rows are near an
 *   edge, and lie twice
 */
final case class HotKey(hash: Long, partition: Int, from: Long, wider: Int = 1)

/**
 * The keys whose rows are spread over the partitions by buckets of their times, each from a bucket on.
 *
 * {{{
 *   bucket       from - 2   from - 1 | from   from + 1   from + 2
 *   partition        2          2    |   2        0          1        of a key in partition 2 of 3
 * }}}
 *
 * The first bucket is the turn of the key's own partition, so that nobody is a guest at that edge: rows on both
 * sides of it lie together, and the next edge is the first with neighbours in two partitions. Rows that were
 * buffered before the key was found are all before the first bucket, and stay where they are.
 *
 * Immutable, for it is asked of each row: a table of hashes with open addressing.
 *
 * @param buckets as narrow as they may be
 */
final case class HotKeys(buckets: ReachBuckets, keys: Seq[HotKey]) {
  require(buckets.width > 1, "numbers of buckets would wrap around, and have no order")

  private val mask: Int = Integer.highestOneBit(math.max(keys.length, 1)) * 4 - 1

  /** By place: one more than the index of a key, or 0. */
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

  /** How wide the buckets of the keys are. */
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

  /** The same of a key that lies in a partition as long as it is not spread. */
  private def find(hash: Long, own: Int): Int = {
    val key = find(hash)
    if (key < 0 || own == partitionOf(key) || own == HotKeys.Whichever) key else -1
  }

  /**
   * The partition in which a row is at home; [[ReachBuckets.NoPartition]]: that of its key.
   *
   * @param own that of its key, or [[HotKeys.Whichever]]
   */
  def homeIn(side: Side, hash: Long, time: Long, partitions: Int, own: Int): Int = {
    val key = find(hash, own)
    if (key < 0) ReachBuckets.NoPartition
    else {
      val bucket = bucketsOf(key).home(side, time)
      if (bucket < fromOf(key)) ReachBuckets.NoPartition else turn(key, bucket, partitions)
    }
  }

  /** The partition in which a row is a guest, or [[ReachBuckets.NoPartition]]: in none. */
  def guestIn(side: Side, hash: Long, time: Long, partitions: Int, own: Int): Int = {
    val key = find(hash, own)
    if (key < 0) ReachBuckets.NoPartition
    else {
      val widened = bucketsOf(key)
      val bucket = widened.home(side, time)
      val next = bucket + widened.neighbour(side, time)
      if (next == bucket || math.min(bucket, next) < fromOf(key)) ReachBuckets.NoPartition
      else {
        val there = turn(key, next, partitions)
        if (there == turn(key, bucket, partitions)) ReachBuckets.NoPartition else there
      }
    }
  }

  private def turn(key: Int, bucket: Long, partitions: Int): Int = Math.floorMod(
    partitionOf(key) + ReachBuckets.partition(bucket, partitions) -
      ReachBuckets.partition(fromOf(key), partitions),
    partitions
  )

  /** With more keys. */
  def ++(more: Seq[HotKey]): HotKeys = copy(keys = keys ++ more)
}

object HotKeys {

  /** In the place of a key's partition: the one key with its hash is meant that is spread. */
  val Whichever: Int = -1
}
