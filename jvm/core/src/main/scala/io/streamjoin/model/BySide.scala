package io.streamjoin.model

/** One value for each input of a join. */
final case class BySide[+T](left: T, right: T) extends (Side => T) {

  override def apply(side: Side): T = if (side == Side.Left) left else right

  def map[U](f: T => U): BySide[U] = BySide(f(left), f(right))

  override def toString: String = s"BySide($left, $right)"
}

object BySide {
  def of[T](value: Side => T): BySide[T] = BySide(value(Side.Left), value(Side.Right))
}
