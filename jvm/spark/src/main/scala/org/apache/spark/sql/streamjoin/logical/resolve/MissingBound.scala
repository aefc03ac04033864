package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, GetStructField}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Side

/**
 * `later >= earlier - c`, which a condition lacks, with event times of one family.
 *
 * @param ofEqualWindows whether both are windows of one length, which may well be equal
 */
private[streamjoin] final case class MissingBound(
    later: Attribute,
    earlier: Attribute,
    unit: TimeUnit,
    ofEqualWindows: Boolean
) {

  /** What would do, between columns as they are called: an inequality, or an equality of windows. */
  def sql(laterName: String, earlierName: String): String =
    if (ofEqualWindows) s"$laterName = $earlierName"
    else {
      s"${time(laterName, later)} >= ${unit.moved(time(earlierName, earlier), -unit.example)}"
    }

  private def time(name: String, column: Attribute): String =
    if (TimeUnit.isWindow(column.dataType)) s"$name.end" else name
}

private[streamjoin] object MissingBound {

  /** The inequalities without which rows of an input would be kept for ever. */
  def of(join: StreamJoin): Seq[MissingBound] =
    Side.both.filterNot(join.analysis.bounds.bounded).flatMap(of(join, _))

  /** The bound that rows of `side` lack; if there is one, between columns bounded the other way. */
  def of(join: StreamJoin, side: Side): Option[MissingBound] = {
    val bounds = join.analysis.bounds
    val lengths = join.analysis.question.times.lengths
    val candidates = for {
      a <- bounds.indices(side) if bounds.columns(a).watermarked
      b <- bounds.indices(side.other) if bounds.columns(b).watermarked
      later <- join.analysis.attribute(a)
      earlier <- join.analysis.attribute(b)
      unit <- TimeUnit.of(later.dataType) if TimeUnit.of(earlier.dataType).contains(unit)
    } yield {
      val windows = Seq(later, earlier).map(w => TimeUnit.isWindow(w.dataType))
      val equal = Seq(later, earlier).map(w => lengths.get(w.exprId)) match {
        case Seq(Some(l), Some(e)) => l == e
        case _                     => false
      }
      val preference = (bounds.slack(b, a) == JoinBounds.Unbounded, windows.distinct.length)
      preference -> MissingBound(later, earlier, unit, equal)
    }
    candidates.sortBy(_._1).map(_._2).headOption
  }

  /** The time of a column, which is a field of a window. */
  def timeOf(column: Attribute): Expression =
    if (TimeUnit.isWindow(column.dataType)) GetStructField(column, 1, Some("end")) else column
}
