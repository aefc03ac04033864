package io.streamjoin.placement

import io.streamjoin.model.Side

/**
 * The partitions of a stored row if a join gets another number of partitions: the one that owns
 * the row, and those with its replicas. They are the partitions that the row would have reached
 * if the join had started with this number.
 *
 * {{{
 *   Routing.ByTime, from 1 partition to 2, buckets of 1 hour
 *     a left row of 12:30   partition 0
 *     a left row of 12:59   partition 0 owns it, partition 1 gets a replica
 * }}}
 */
final class StoredRowTargets(routing: Routing, partitions: Int) {

  /**
   * Visits the partitions of a row.
   *
   * @param key the stored hash of its key
   * @param row equal in all partitions, so that they agree on its hash
   * @param keyPartition the partition of its key, among the new ones
   * @param visit receives a partition, and the key under which that partition stores the row
   */
  def foreach(side: Side, key: Long, time: Long, row: AnyRef, keyPartition: Int)(
      visit: (Int, Long) => Unit
  ): Unit = routing match {
    case buckets: Routing.ByBuckets =>
      val owner = buckets.owner(side, key, time, partitions, keyPartition)
      visit(if (owner == ReachBuckets.NoPartition) keyPartition else owner, key)
      val replica = buckets.replica(side, key, time, partitions, keyPartition)
      if (replica != ReachBuckets.NoPartition) visit(replica, key)
    case Routing.Shared =>
      val owner = Math.floorMod(row.hashCode, partitions)
      for (p <- 0 until partitions)
        visit(p, if (p == owner) Routing.NoKey else Routing.ReplicaKey)
    case copying if copying.copies(side) => (0 until partitions).foreach(visit(_, key))
    case _                               => visit(keyPartition, key)
  }
}
