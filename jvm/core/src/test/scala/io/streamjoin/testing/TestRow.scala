package io.streamjoin.testing

import scala.util.hashing.MurmurHash3

import io.streamjoin.model.Side
import io.streamjoin.testing.TestJoin.Col

/** An input event of a join. */
sealed trait Given

/** An output event of a join. */
sealed trait Emitted

/**
 * A row with times, a key and a name.
 *
 * @param times by column number; a missing one is null
 * @param key the equality key; None is null
 * @param joinable whether the conjuncts on this input alone hold
 * @param foundLate whether a join below emitted it as late
 * @param name distinguishes rows with equal values
 */
final case class TestRow(
    side: Side,
    times: Map[Int, Long],
    key: Option[Long] = Some(0L),
    joinable: Boolean = true,
    foundLate: Boolean = false,
    name: String = ""
) extends Given {

  def without(column: Col): TestRow = copy(times = times - column.index)
  def key(k: Long): TestRow = copy(key = Some(k))
  def nullKey: TestRow = copy(key = None)
  def unjoinable: TestRow = copy(joinable = false)
  def named(n: String): TestRow = copy(name = n)

  override lazy val hashCode: Int = MurmurHash3.caseClassHash(this)

  override def toString: String = {
    val values = times.toSeq.sorted.map { case (c, t) => s"$c:$t" }.mkString(", ")
    val rest =
      key.filter(_ != 0).map(k => s" key $k").getOrElse(if (key.isEmpty) " null key" else "")
    s"${side.name.head}$name{$values}$rest${if (joinable) "" else " unjoinable"}"
  }
}

/** An input or output watermark. */
final case class Wm(column: Int, value: Long) extends Given with Emitted {
  override def toString: String = s"wm$column($value)"
}

object Wm {
  def apply(column: Col, value: Long): Wm = Wm(column.index, value)
}

final case class Joined(left: TestRow, right: TestRow) extends Emitted {
  override def toString: String = s"joined($left, $right)"
}

/** A row without a match: padded with nulls, or as it is (anti join). */
final case class Unmatched(row: TestRow) extends Emitted {
  override def toString: String = s"unmatched($row)"
}

/** A late row, with the watermark that it is below. */
final case class Late(row: TestRow, below: Wm) extends Emitted {
  override def toString: String = s"late($row, $below)"
}

/** A row that a lower join emitted as late. */
final case class FoundLate(row: TestRow) extends Emitted {
  override def toString: String = s"foundLate($row)"
}

/** A left row with a match (semi join). */
final case class Matched(left: TestRow) extends Emitted {
  override def toString: String = s"matched($left)"
}
