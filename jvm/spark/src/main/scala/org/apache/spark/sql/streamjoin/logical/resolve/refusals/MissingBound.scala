package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streamjoin.conditions.{MultipleOf, TimeUnit}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.JoinAnalysis
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.streamjoin.spark.Arithmetic
import org.apache.spark.sql.types.LongType

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Side

/**
 * A bound `later >= earlier - c` that a condition lacks, between comparable event times.
 *
 * @param ofEqualWindows whether both are windows of one length, which can be compared for equality
 */
private[streamjoin] final case class MissingBound(
    later: MissingBound.Time,
    earlier: MissingBound.Time,
    unit: TimeUnit,
    ofEqualWindows: Boolean
) {

  /**
   * A sufficient condition between columns with these names: an inequality, or an equality of
   * windows.
   */
  def sql(laterName: String, earlierName: String): String =
    if (ofEqualWindows) s"$laterName = $earlierName"
    else s"${later.sql(laterName)} >= ${unit.moved(earlier.sql(earlierName), -unit.example)}"
}

private[streamjoin] object MissingBound {

  /**
   * A time of a column: its value, the end of a window, or a number in the unit of the other
   * column.
   *
   * @param factor converts the number to that unit
   */
  final case class Time(column: Attribute, factor: Long) {

    def isWindow: Boolean = TimeUnit.isWindow(column.dataType)

    /** The SQL for a column with this name. */
    def sql(name: String): String =
      if (isWindow) s"$name.end" else if (factor == 1) name else s"$name * $factor"

    def expression: Expression =
      if (isWindow) GetStructField(column, 1, Some("end"))
      else if (TimeUnit.of(column.dataType).contains(TimeUnit.Number)) {
        val number = if (column.dataType == LongType) column else Cast(column, LongType)
        if (factor == 1) number
        else Multiply(number, Literal(factor), Arithmetic.ansi)
      } else column
  }

  /** The inequalities without which state is unbounded. */
  def of(join: StreamJoin): Seq[MissingBound] =
    Side.both.filterNot(join.analysis.bounds.bounded).flatMap(of(join, _))

  /** The bound that rows of `side` lack. It prefers columns that have the opposite bound. */
  def of(join: StreamJoin, side: Side): Option[MissingBound] = {
    val analysis = JoinAnalysis.ofAllTimes(join.analysis.question)
    val bounds = analysis.bounds
    val lengths = analysis.question.times.lengths
    val candidates = for {
      (a, later) <- times(analysis, side)
      (b, earlier) <- times(analysis, side.other)
      unit <- TimeUnit.of(later.column.dataType)
      if TimeUnit.of(earlier.column.dataType).contains(unit)
    } yield {
      val equal = Seq(later, earlier).map(t => lengths.get(t.column.exprId)) match {
        case Seq(Some(l), Some(e)) => l == e
        case _                     => false
      }
      val preference =
        (bounds.slack(b, a) == JoinBounds.Unbounded, later.isWindow != earlier.isWindow)
      preference -> MissingBound(later, earlier, unit, equal)
    }
    candidates.sortBy(_._1).map(_._2).headOption
  }

  private def times(a: JoinAnalysis, side: Side): Seq[(Int, Time)] =
    a.bounds.indices(side).map(i => i -> a.expressions(i)).collect {
      case (i, column: Attribute) if a.bounds.columns(i).watermarked => i -> Time(column, 1)
      case (i, MultipleOf(column: Attribute, factor))
          if a.bounds.columns(i).multipleOf.nonEmpty =>
        i -> Time(column, factor)
    }
}
