package io.streamjoin.model

/** One of the two inputs of a join. */
sealed abstract class Side(val name: String) extends Serializable {
  def other: Side
}

object Side {
  case object Left extends Side("left") {
    override def other: Side = Right
  }

  case object Right extends Side("right") {
    override def other: Side = Left
  }

  val both: Seq[Side] = Seq(Left, Right)
}
