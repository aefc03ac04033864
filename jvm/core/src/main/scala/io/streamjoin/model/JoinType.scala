package io.streamjoin.model

import io.streamjoin.model.Side.{Left, Right}

/**
 * What a join emits for rows with and without a match.
 *
 * @param name the SQL name
 * @param preserved the sides whose unmatched rows come out, padded with nulls (for an anti join: as
 *   they are)
 */
sealed abstract class JoinType(val name: String, val preserved: Set[Side]) extends Serializable {

  /** Semi and anti joins emit columns of the left input only, each left row at most once. */
  def leftOnly: Boolean = false

  def preserves(side: Side): Boolean = preserved(side)

  /** Whether columns of a side come out. */
  def emits(side: Side): Boolean = side == Left || !leftOnly

  /** The sides of which every row that comes out has a row: none is padded in its place, and its columns come out. */
  def always: Seq[Side] = Side.both.filter(side => emits(side) && !preserves(side.other))

  /** Whether it depends on a row's having a partner that it comes out by itself, or not at all. */
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
