package io.streamjoin.placement

import io.streamjoin.model.{BySide, Side}

/**
 * The place of one partition among those of a join: which rows it owns. The other rows that reach it
 * are replicas, which another partition owns.
 *
 * A replica only shows the rows of this partition that they have a partner. It is not counted, and it
 * is never emitted.
 *
 * {{{
 *   Routing.ByTime, partitions 0 and 1, buckets of 1 hour
 *     a left row of 12:59   partition 0 owns it, partition 1 has a replica
 *     a left row of 12:30   partition 0 owns it, partition 1 does not see it
 * }}}
 *
 * @param routing how rows reach the partitions
 * @param partition the number of this one
 * @param partitions how many there are
 */
final case class Placement(
    routing: Routing = Routing.ByKey,
    partition: Int = 0,
    partitions: Int = 1
) {
  private val replicated = BySide.of(routing.hasReplicas)

  /** Whether there may be replicas among the rows of the side. */
  def mayMeetReplicas(side: Side): Boolean = replicated(side)

  /**
   * Whether it owns an arriving row, as far as the row itself decides.
   *
   * @param row equal in all partitions, so that they agree on its hash
   */
  def owns(row: AnyRef): Boolean =
    routing != Routing.Shared || Math.floorMod(row.hashCode, partitions) == partition

  /**
   * Whether it owns a row with this key and time, arriving or buffered.
   *
   * @param keyPartition see [[Routing.ByBuckets.owner]]
   */
  def owns(side: Side, key: Long, time: Long, keyPartition: Int): Boolean =
    routing match {
      case Routing.Shared => key != Routing.ReplicaKey
      case buckets: Routing.ByBuckets if replicated(side) && partitions > 1 =>
        val owner = buckets.owner(side, key, time, partitions, keyPartition)
        owner == ReachBuckets.NoPartition || owner == partition
      case _ => true
    }
}
