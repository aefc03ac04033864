package io.streamjoin.model

/**
 * One of the two inputs of a join.
 *
 * @param index its position in arrays of both
 */
sealed abstract class Side(val name: String, val index: Int) extends Serializable {
  def other: Side
}

object Side {
  case object Left extends Side("left", 0) {
    override def other: Side = Right
  }

  case object Right extends Side("right", 1) {
    override def other: Side = Left
  }

  val both: Seq[Side] = Seq(Left, Right)
}

/** One value for each input of a join. */
final case class BySide[+T](left: T, right: T) extends (Side => T) {

  override def apply(side: Side): T = if (side == Side.Left) left else right

  def map[U](f: T => U): BySide[U] = BySide(f(left), f(right))

  override def toString: String = s"BySide($left, $right)"
}

object BySide {
  def of[T](value: Side => T): BySide[T] = BySide(value(Side.Left), value(Side.Right))
}
