package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streamjoin.logical.plan.{EquiKey, JoinAnalysis, Residual, ZonedPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{JoinType, Routing}
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * What the tasks of a join need to know of its analysis.
 *
 * @param residual what of the condition a probe does not settle
 * @param output the columns that may come out
 * @param shown those of them that somebody asks for, in the order in which they come out
 * @param late how late rows come out; none where they are dropped
 * @param bases where the watermarks start, in the order in which they are stored
 * @param times the expression behind each column of `watermarks.bounds`
 * @param zones the time zones of the session that the bounds depend on
 * @param zoned what of the inputs' keys and times depends on one
 * @param explained the bounds found, in words
 */
private[streamjoin] final case class StreamJoinSpec(
    joinType: JoinType,
    equiKeys: Seq[EquiKey],
    residual: Residual,
    leftFilters: Seq[Expression],
    rightFilters: Seq[Expression],
    output: Seq[Attribute],
    shown: Seq[Attribute],
    late: Option[LateSpec],
    bases: Seq[BaseColumn],
    times: IndexedSeq[Expression],
    watermarks: JoinWatermarks,
    zones: Set[String],
    zoned: Seq[ZonedPart],
    explained: Seq[String]
) {

  def bounds: JoinBounds = watermarks.bounds

  /** The lags of those columns whose watermarks follow from their own values alone. */
  def lags: Map[Int, Long] = watermarks.inputs.zipWithIndex.collect {
    case (WatermarkPlan.Base(i), column) => bases(i) -> column
  }.collect { case (base: BaseColumn.Imposed, column) => column -> base.lag }.toMap

  /** Where no two rows can match, none need to meet: each goes to one partition. */
  def routing: Routing = Routing.of(joinType, equiKeys.nonEmpty || bounds.contradictory)
}

private[streamjoin] object StreamJoinSpec {
  def of(
      analysis: JoinAnalysis,
      output: Seq[Attribute],
      shown: Seq[Attribute],
      late: Option[LateSpec],
      explained: Seq[String]
  ): StreamJoinSpec =
    StreamJoinSpec(
      analysis.joinType,
      analysis.equiKeys,
      analysis.residual,
      analysis.leftFilters,
      analysis.rightFilters,
      output,
      shown,
      late,
      analysis.bases,
      analysis.expressions,
      analysis.watermarks,
      analysis.zones,
      analysis.zoned,
      explained
    )
}
