package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.StreamJoin

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.Side

/** `later >= earlier - c`, which a condition lacks, with event times of one family. */
private[streamjoin] final case class MissingBound(
    later: Attribute,
    earlier: Attribute,
    unit: TimeUnit
) {

  /** Windows are bounded by being equal only. */
  def ofWindows: Boolean = TimeUnit.isWindow(later.dataType)

  /** An inequality that would do, between columns as they are called. */
  def sql(later: String, earlier: String): String =
    if (ofWindows) s"$later = $earlier" else s"$later >= ${unit.moved(earlier, -unit.example)}"
}

private[streamjoin] object MissingBound {

  /** The inequalities without which rows of an input would be kept for ever. */
  def of(join: StreamJoin): Seq[MissingBound] =
    Side.both.filterNot(join.analysis.bounds.bounded).flatMap(of(join, _)).filterNot(_.ofWindows)

  /** The bound that rows of `side` lack; if there is one, between columns bounded the other way. */
  def of(join: StreamJoin, side: Side): Option[MissingBound] = {
    val bounds = join.analysis.bounds
    val candidates = for {
      a <- bounds.indices(side) if bounds.columns(a).watermarked
      b <- bounds.indices(side.other) if bounds.columns(b).watermarked
      later <- join.analysis.attribute(a)
      earlier <- join.analysis.attribute(b)
      unit <- TimeUnit.of(later.dataType) if TimeUnit.of(earlier.dataType).contains(unit)
      if TimeUnit.isWindow(later.dataType) == TimeUnit.isWindow(earlier.dataType)
    } yield (bounds.slack(b, a) == JoinBounds.Unbounded, MissingBound(later, earlier, unit))
    candidates.sortBy(_._1).map(_._2).headOption
  }
}
