package io.streamjoin.model

import io.streamjoin.model.Side.{Left, Right}

/**
 * Type of a join: the rows that it emits with and without a match.
 *
 * @param name the SQL name
 * @param preserved the sides whose unmatched rows are emitted, padded with nulls (for an anti
 *   join without padding)
 */
sealed abstract class JoinType(val name: String, val preserved: Set[Side]) extends Serializable {

  /** Semi and anti joins emit columns of the left input only, each left row at most once. */
  def leftOnly: Boolean = false

  def preserves(side: Side): Boolean = preserved(side)

  /** Whether columns of a side are in the output. */
  def emits(side: Side): Boolean = side == Left || !leftOnly

  /** The sides that are never padded, and whose columns are in the output. */
  def always: Seq[Side] = Side.both.filter(side => emits(side) && !preserves(side.other))

  /** Whether the output of a row of the side depends on its having a partner. */
  def notesMatches(side: Side): Boolean = preserves(side) || side == Left && leftOnly
}

object JoinType {
  case object Inner extends JoinType("INNER", Set.empty)
  case object LeftOuter extends JoinType("LEFT OUTER", Set(Left))
  case object RightOuter extends JoinType("RIGHT OUTER", Set(Right))
  case object FullOuter extends JoinType("FULL OUTER", Set(Left, Right))

  case object LeftSemi extends JoinType("LEFT SEMI", Set.empty) {
    override def leftOnly: Boolean = true
  }

  case object LeftAnti extends JoinType("LEFT ANTI", Set(Left)) {
    override def leftOnly: Boolean = true
  }

  val all: Seq[JoinType] = Seq(Inner, LeftOuter, RightOuter, FullOuter, LeftSemi, LeftAnti)
}
