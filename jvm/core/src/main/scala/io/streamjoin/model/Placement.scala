package io.streamjoin.model

/**
 * The place of one partition among those of a join: which of its rows it owns, and which are replicas
 * that another partition owns.
 *
 * A replica only shows the rows of this partition that they have a partner. It is not counted, and it
 * is never emitted.
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
  def hasReplicas(side: Side): Boolean = replicated(side)

  /** Whether replicas are stored under [[Routing.ReplicaKey]]. */
  def separatesReplicas: Boolean = routing.separatesReplicas

  /** Whether an arriving row is a replica, as far as the row itself decides. */
  def isReplica(row: AnyRef): Boolean = routing.isReplica(row, partition, partitions)

  /**
   * Whether a row with this key and time, arriving or buffered, is a replica.
   *
   * @param ofKey the partition of its key, see [[isSpread]]
   */
  def isReplica(side: Side, key: Long, time: Long, ofKey: Int): Boolean =
    routing.isReplica(side, key, time, partition, partitions, ofKey)

  /** Whether a buffered row with this key is a replica, whatever its time. */
  def isReplica(storedKey: Long): Boolean = routing.isReplica(storedKey)

  /** Whether rows of this key are in more than one partition. */
  def isSpread(key: Long): Boolean = routing.isSpread(key)

  /** The side whose owner emits a pair. */
  def pairOwner: Side = routing.pairOwner
}
