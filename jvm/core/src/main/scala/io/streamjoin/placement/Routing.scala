package io.streamjoin.placement

import io.streamjoin.model.Side.{Left, Right}
import io.streamjoin.model.{JoinType, Side}

/**
 * Routing of the rows of both inputs to the partitions: each pair of rows meets once, and one
 * partition decides that a row has no partner.
 *
 * Source: Hazelcast, "Stream to stream JOIN" (broadcast-unicast); [[Routing.Shared]] goes
 * beyond it.
 */
sealed abstract class Routing(val name: String) extends Serializable {

  /** Whether each row of the side is in all partitions, and all have equal rights to it. */
  def copies(side: Side): Boolean = false

  /** Whether a partition counts rows of the side. */
  final def countsIn(partition: Int, side: Side): Boolean = !copies(side) || partition == 0

  /** Whether a partition may have replicas of rows of the side. */
  def hasReplicas(side: Side): Boolean = false

  /** Whether rows with this key may be in several partitions, none of which has all of them. */
  def isSpread(key: Long): Boolean = false

  /** Whether replicas are stored under [[Routing.ReplicaKey]]. */
  def separatesReplicas: Boolean = false

  /** The side whose owner emits a pair. */
  def pairOwner: Side = Left
}

object Routing {

  /** Rows with equal keys are in the partition of their key. */
  case object ByKey extends Routing("BY KEY")

  /**
   * Without an equality: each row of `unicast` is in one partition, each row of the other input
   * in all. Only a row of `unicast` has all possible partners in one place, so the other input
   * must not be preserved.
   */
  final case class Broadcast(unicast: Side) extends Routing(s"UNICAST ${unicast.name}") {
    override def copies(side: Side): Boolean = side != unicast
  }

  /**
   * Without an equality, if both inputs are preserved: each row is in all partitions, and one
   * of them owns it. The replicas in the others only show the rows there that they have a
   * partner. The owner of the left row emits a pair. Two replicas are never compared, so each
   * partition does its share of the work.
   */
  case object Shared extends Routing("SHARED") {
    override def hasReplicas(side: Side): Boolean = true

    override def separatesReplicas: Boolean = true
  }

  /**
   * Routing by time bucket, for partners whose times have a maximal distance. A row is in the
   * partition of its bucket, which owns it. If it may have a partner in the next bucket, a
   * replica is there.
   */
  sealed abstract class ByBuckets(name: String) extends Routing(name) {

    /**
     * The side without replicas, whose rows have all their partners at their owner. None if
     * both inputs are preserved. Then, as in [[Shared]], the owner of the left row emits a
     * pair, and replicas only show others that they have a partner.
     */
    def single: Option[Side]

    /**
     * The partition that owns a row; [[ReachBuckets.NoPartition]]: the one that it has without buckets.
     *
     * @param keyPartition the one of its key while the key is not spread, if the key
     *   [[isSpread]]; [[ReachBuckets.NoPartition]]: the hash alone identifies the key
     */
    final def owner(
        side: Side,
        key: Long,
        time: Long,
        partitions: Int,
        keyPartition: Int
    ): Int = this match {
      case ByTime(_, buckets)   => buckets.owner(side, time, partitions)
      case ByKeyAndTime(_, hot) => hot.owner(side, key, time, partitions, keyPartition)
    }

    /** The partition that has a replica of a row, or [[ReachBuckets.NoPartition]]. */
    final def replica(
        side: Side,
        key: Long,
        time: Long,
        partitions: Int,
        keyPartition: Int
    ): Int = this match {
      case _ if !hasReplicas(side) => ReachBuckets.NoPartition
      case ByTime(_, buckets)      => buckets.replica(side, time, partitions)
      case ByKeyAndTime(_, hot)    => hot.replica(side, key, time, partitions, keyPartition)
    }

    final override def hasReplicas(side: Side): Boolean = !single.contains(side)

    final override def pairOwner: Side = single.getOrElse(Left)
  }

  /**
   * Without an equality: all rows by bucket. A row without a time has no partners, and one
   * partition.
   */
  final case class ByTime(single: Option[Side], buckets: ReachBuckets)
      extends ByBuckets(ByTime.Name)

  /** As [[ByKey]], except for the rows of a few keys, which are routed by bucket from a time on. */
  final case class ByKeyAndTime(single: Option[Side], hot: HotKeys)
      extends ByBuckets(ByKey.name) {
    override def isSpread(key: Long): Boolean = hot.contains(key)
  }

  object ByTime {
    val Name: String = "BY TIME"
  }

  /** The key of all rows without an equality, at their owner. */
  val NoKey: Long = 0L

  /** The key of replicas without an equality. */
  val ReplicaKey: Long = 1L

  /** The routings that are described by their name alone. */
  val named: Seq[Routing] = Seq(ByKey, Broadcast(Left), Broadcast(Right), Shared)

  def of(joinType: JoinType, hasEquality: Boolean): Routing =
    if (hasEquality) ByKey else single(joinType).fold[Routing](Shared)(Broadcast(_))

  /** The side that is in one place without an equality; none if both inputs are preserved. */
  def single(joinType: JoinType): Option[Side] =
    if (joinType.preserved == Set(Left, Right)) None
    else if (joinType.preserves(Right)) Some(Right)
    else Some(Left)
}
