package io.streamjoin.testing

import scala.collection.mutable

import io.streamjoin.bounds.{JoinBounds, Multiple, RowTimes, TimeBound, TimeColumn}
import io.streamjoin.join.JoinOutput
import io.streamjoin.join.eventtime.JoinRows
import io.streamjoin.model.Side

/**
 * A join condition written as in the seeds:
 *
 * {{{
 *   object join2 extends TestJoin {
 *     val d = left("d")
 *     val r = right("r")
 *     on(r.between(d - 1, d + 4))
 *   }
 * }}}
 *
 * Rows match if their keys are equal and every bound of `on` holds.
 */
abstract class TestJoin {
  import TestJoin._

  private val declared = mutable.ArrayBuffer.empty[TimeColumn]
  private val demanded = mutable.ArrayBuffer.empty[TimeBound]
  private val promised = mutable.ArrayBuffer.empty[TimeBound]

  protected def left(name: String, watermarked: Boolean = true, nullable: Boolean = false): Col =
    column(TimeColumn(Side.Left, name, watermarked, nullable))

  protected def right(name: String, watermarked: Boolean = true, nullable: Boolean = false): Col =
    column(TimeColumn(Side.Right, name, watermarked, nullable))

  /** A column in a smaller unit, as in `o * 1000`. */
  protected def multiple(of: Col, factor: Long): Col = {
    val whole = declared(of.index)
    column(
      TimeColumn(
        whole.side,
        s"${whole.name} * $factor",
        watermarked = false,
        nullable = false,
        multipleOf = Some(Multiple(of.index, factor))
      )
    )
  }

  protected def column(c: TimeColumn): Col = {
    declared += c
    Col(declared.length - 1)
  }

  protected def on(bounds: Seq[TimeBound]*): Unit = demanded ++= bounds.flatten

  protected def known(bounds: Seq[TimeBound]*): Unit = promised ++= bounds.flatten

  lazy val columns: IndexedSeq[TimeColumn] = declared.toIndexedSeq
  lazy val conjuncts: Seq[TimeBound] = demanded.toSeq
  lazy val facts: Seq[TimeBound] = promised.toSeq
  lazy val bounds: JoinBounds = new JoinBounds(columns, conjuncts, facts)

  /** A left row with these times, in the order of the left columns. */
  def l(times: Long*): TestRow = row(Side.Left, times)

  /** A right row with these times, in the order of the right columns. */
  def r(times: Long*): TestRow = row(Side.Right, times)

  private def row(side: Side, times: Seq[Long]): TestRow =
    TestRow(side, bounds.indices(side).zip(times).toMap)

  def matches(left: TestRow, right: TestRow): Boolean =
    left.joinable && right.joinable && left.key.nonEmpty && left.key == right.key && {
      val times = left.times ++ right.times
      conjuncts.forall(holds(_, times))
    }

  object rows extends JoinRows[TestRow] {
    override def readTimes(side: Side, row: TestRow, into: RowTimes): Unit =
      bounds.indices(side).foreach { c =>
        row.times.get(c).fold(into.setNull(c))(into.set(c, _))
      }

    override def foundLate(side: Side, row: TestRow): Boolean = row.foundLate

    override def joinable(side: Side, row: TestRow): Boolean = row.joinable && row.key.nonEmpty

    override def key(side: Side, row: TestRow): Long = row.key.getOrElse(TestJoin.NullKey)

    override def partition(side: Side, row: TestRow, partitions: Int): Int = 0

    override def matches(left: TestRow, right: TestRow, ordinary: Boolean): Boolean =
      TestJoin.this.matches(left, right)
  }

  object output extends Output

  /** Also emits late rows. */
  object outputWithLate extends Output {
    override def late(side: Side, row: TestRow, column: Int, watermark: Long): Option[Emitted] =
      Some(Late(row, Wm(column, watermark)))

    override def foundLate(side: Side, row: TestRow): Option[Emitted] = Some(FoundLate(row))
  }

  class Output extends JoinOutput[TestRow, Emitted] {
    override def joined(left: TestRow, right: TestRow): Emitted = Joined(left, right)

    override def unmatched(side: Side, row: TestRow): Emitted = {
      require(side == row.side)
      Unmatched(row)
    }

    override def matched(left: TestRow): Emitted = Matched(left)
  }
}

object TestJoin {

  /** The hash of a key that is null. */
  val NullKey: Long = 42L

  /** Whether a bound holds for these times. A missing time is NULL, so the bound is not true. */
  def holds(b: TimeBound, times: Map[Int, Long]): Boolean =
    times.contains(b.later) && times.contains(b.earlier) &&
      times(b.later) >= times(b.earlier) - b.slack

  /** A column of a join, for writing bounds. */
  final case class Col(index: Int) {
    def -(c: Long): Shifted = Shifted(this, c)
    def +(c: Long): Shifted = Shifted(this, -c)
    def >=(that: Shifted): Seq[TimeBound] = Seq(TimeBound(index, that.column.index, that.slack))
    def >=(that: Col): Seq[TimeBound] = this >= that - 0
    def <=(that: Shifted): Seq[TimeBound] =
      Seq(TimeBound(that.column.index, index, -that.slack))
    def <=(that: Col): Seq[TimeBound] = that >= this
    def between(low: Shifted, high: Shifted): Seq[TimeBound] = (this >= low) ++ (this <= high)
    def between(low: Col, high: Shifted): Seq[TimeBound] = between(low - 0, high)
    def ===(that: Col): Seq[TimeBound] = (this >= that) ++ (that >= this)
  }

  /** `column - slack` */
  final case class Shifted(column: Col, slack: Long)
}
