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
