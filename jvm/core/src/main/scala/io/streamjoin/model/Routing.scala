package io.streamjoin.model

import io.streamjoin.model.Side.{Left, Right}

/**
 * How the rows of both inputs reach the partitions, such that each pair of rows meets once and each
 * row's lack of partners is known in one place.
 *
 * Source: Hazelcast, "Stream to stream JOIN" (broadcast-unicast); [[Routing.Shared]] goes beyond it.
 */
sealed abstract class Routing(val name: String) extends Serializable {

  /** Whether each row of the side is in all partitions, and none of them has more to say of it. */
  def copies(side: Side): Boolean = false

  /** Whether rows of the side that come to a partition are counted, and shown, there. */
  final def countsIn(partition: Int, side: Side): Boolean = !copies(side) || partition == 0

  /** Whether there may be rows of the side in a partition that another one answers for. */
  def hasGuests(side: Side): Boolean = false

  /** Whether a buffered row with this key is one that another partition answers for. */
  def isGuest(key: Long): Boolean = false

  /**
   * Whether another partition answers for an arriving row.
   *
   * @param row of which all partitions see the same, so that its hash is theirs to agree on
   */
  def isGuest(row: AnyRef, partition: Int, partitions: Int): Boolean = false

  /**
   * Whether another partition answers for a row with this key and time, arriving or buffered.
   *
   * @param own where rows of its key are that are not spread; it counts where the key [[isSpread]] only
   */
  def isGuest(
      side: Side,
      key: Long,
      time: Long,
      partition: Int,
      partitions: Int,
      own: Int
  ): Boolean = false

  /** Whether rows with this key may lie in more than one partition, and none of these sees all of them. */
  def isSpread(key: Long): Boolean = false

  /** Whether guests are kept under a key of their own. */
  def keepsGuestsApart: Boolean = false

  /** The side at whose rows' home pairs come out. */
  def answersForPairs: Side = Left
}

object Routing {

  /** Rows with equal keys meet in the partition of their key. */
  case object ByKey extends Routing("BY KEY")

  /**
   * Without an equality: each row of `unicast` goes to one partition, each of the other input to all.
   * Only a row of `unicast` meets all its possible partners in one place, so the other input must not
   * be preserved.
   */
  final case class Broadcast(unicast: Side) extends Routing(s"UNICAST ${unicast.name}") {
    override def copies(side: Side): Boolean = side != unicast
  }

  /**
   * Without an equality, where both inputs are preserved: each row goes to all partitions, and one of
   * them answers for it. For the others it is a guest, there only to show the rows they answer for
   * that they have a partner. A pair comes out where its left row is answered for; two guests never
   * meet, so the work of a partition is its share.
   */
  case object Shared extends Routing("SHARED") {
    override def hasGuests(side: Side): Boolean = true

    override def keepsGuestsApart: Boolean = true

    override def isGuest(key: Long): Boolean = key == GuestKey

    override def isGuest(row: AnyRef, partition: Int, partitions: Int): Boolean =
      Math.floorMod(row.hashCode, partitions) != partition
  }

  /**
   * Where partners are never further apart than so much, rows go by buckets of their times: each to the partition
   * of its bucket, which answers for it, and, where it may have a partner in the next bucket, to that partition as
   * a guest.
   */
  sealed abstract class ByBuckets(name: String) extends Routing(name) {

    /**
     * The side whose rows are never guests, which then meet all their partners at home; none where both inputs are
     * preserved. Then it is as in [[Shared]]: a pair comes out where its left row is at home, and a guest is there
     * to show others that they have a partner.
     */
    def single: Option[Side]

    /**
     * The partition in which a row is at home; [[ReachBuckets.NoPartition]]: the one in which it would be without
     * buckets.
     *
     * @param own the one in which it would be, as far as there are keys
     */
    def homeIn(side: Side, key: Long, time: Long, partitions: Int, own: Int): Int

    /** The partition in which a row is a guest, or [[ReachBuckets.NoPartition]]: in none. */
    final def guestIn(side: Side, key: Long, time: Long, partitions: Int, own: Int): Int =
      if (hasGuests(side)) neighbourIn(side, key, time, partitions, own)
      else ReachBuckets.NoPartition

    protected def neighbourIn(side: Side, key: Long, time: Long, partitions: Int, own: Int): Int

    final override def hasGuests(side: Side): Boolean = !single.contains(side)

    final override def answersForPairs: Side = single.getOrElse(Left)

    final override def isGuest(
        side: Side,
        key: Long,
        time: Long,
        partition: Int,
        partitions: Int,
        own: Int
    ): Boolean =
      partitions > 1 && hasGuests(side) && {
        val home = homeIn(side, key, time, partitions, own)
        home != ReachBuckets.NoPartition && home != partition
      }
  }

  /** Without an equality: all rows by buckets. A row without a time has no partners, and one partition. */
  final case class ByTime(single: Option[Side], buckets: ReachBuckets)
      extends ByBuckets(ByTime.Name) {
    override def homeIn(side: Side, key: Long, time: Long, partitions: Int, own: Int): Int =
      buckets.homeIn(side, time, partitions)

    override protected def neighbourIn(
        side: Side,
        key: Long,
        time: Long,
        partitions: Int,
        own: Int
    ): Int = buckets.guestIn(side, time, partitions)
  }

  /** As [[ByKey]], but for the rows of a few keys, which go by buckets from a time on. */
  final case class ByKeyAndTime(single: Option[Side], hot: HotKeys)
      extends ByBuckets(ByKey.name) {
    override def homeIn(side: Side, key: Long, time: Long, partitions: Int, own: Int): Int =
      hot.homeIn(side, key, time, partitions, own)

    override protected def neighbourIn(
        side: Side,
        key: Long,
        time: Long,
        partitions: Int,
        own: Int
    ): Int = hot.guestIn(side, key, time, partitions, own)

    override def isSpread(key: Long): Boolean = hot.contains(key)
  }

  object ByTime {
    val Name: String = "BY TIME"
  }

  /** The equality key of all rows where there is none, in the partition that answers for them. */
  val NoKey: Long = 0L

  /** What guests have in its place. */
  val GuestKey: Long = 1L

  /** Those that have nothing but their name. */
  val named: Seq[Routing] = Seq(ByKey, Broadcast(Left), Broadcast(Right), Shared)

  def of(joinType: JoinType, hasEquality: Boolean): Routing =
    if (hasEquality) ByKey else single(joinType).fold[Routing](Shared)(Broadcast(_))

  /** The side that is in one place where there is no equality; none: both inputs are preserved. */
  def single(joinType: JoinType): Option[Side] =
    if (joinType.preserved == Set(Left, Right)) None
    else if (joinType.preserves(Right)) Some(Right)
    else Some(Left)
}
