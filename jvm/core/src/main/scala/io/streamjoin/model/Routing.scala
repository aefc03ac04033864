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

  /** Whether a buffered row with this key is one that another partition answers for. */
  def isGuest(key: Long): Boolean = false

  /**
   * Whether another partition answers for an arriving row.
   *
   * @param row of which all partitions see the same, so that its hash is theirs to agree on
   */
  def isGuest(row: AnyRef, partition: Int, partitions: Int): Boolean = false
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
    override def isGuest(key: Long): Boolean = key == GuestKey

    override def isGuest(row: AnyRef, partition: Int, partitions: Int): Boolean =
      Math.floorMod(row.hashCode, partitions) != partition
  }

  /** The equality key of all rows where there is none, in the partition that answers for them. */
  val NoKey: Long = 0L

  /** What guests have in its place. */
  val GuestKey: Long = 1L

  val all: Seq[Routing] = Seq(ByKey, Broadcast(Left), Broadcast(Right), Shared)

  def of(joinType: JoinType, hasEquality: Boolean): Routing =
    if (hasEquality) ByKey
    else if (joinType.preserved == Set(Left, Right)) Shared
    else if (joinType.preserves(Right)) Broadcast(Right)
    else Broadcast(Left)
}
