package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.streamjoin.logical.plan.{JoinAnalysis, ZonedPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * The event times of a join.
 *
 * @param bases the source columns of the watermarks, in the order in which they are stored
 * @param expressions the expression behind each column of the bounds
 * @param zones the session time zones that the bounds depend on
 * @param zoned the parts of the inputs' keys and times that depend on a time zone
 */
private[streamjoin] final case class JoinTimes(
    bases: Seq[BaseColumn],
    expressions: IndexedSeq[Expression],
    watermarks: JoinWatermarks,
    zones: Set[String],
    zoned: Seq[ZonedPart]
) {

  def bounds: JoinBounds = watermarks.bounds

  def apply(column: Int): Expression = expressions(column)

  /** The lags of the columns whose watermarks depend on their own values alone. */
  def lags: Map[Int, Long] = watermarks.inputs.zipWithIndex.collect {
    case (WatermarkPlan.Base(i), column) => bases(i) -> column
  }.collect { case (base: BaseColumn.Imposed, column) => column -> base.lag }.toMap
}

private[streamjoin] object JoinTimes {

  def of(analysis: JoinAnalysis): JoinTimes = {
    import analysis.{bases, expressions, watermarks, zones, zoned}
    JoinTimes(bases, expressions, watermarks, zones, zoned)
  }
}
