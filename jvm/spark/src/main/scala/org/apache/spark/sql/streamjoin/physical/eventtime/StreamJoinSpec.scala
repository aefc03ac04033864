package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streamjoin.logical.plan.{EquiKey, JoinAnalysis, Residual, ZonedPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{HotKeys, JoinType, ReachBuckets, Routing}
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * What the tasks of a join need to know of its analysis.
 *
 * @param residual what of the condition a probe does not settle
 * @param output the columns that may come out
 * @param required those of them that somebody asks for, in the order in which they come out
 * @param late how late rows come out; none where they are dropped
 * @param bases where the watermarks start, in the order in which they are stored
 * @param times the expression behind each column of `watermarks.bounds`
 * @param zones the time zones of the session that the bounds depend on
 * @param zoned what of the inputs' keys and times depends on one
 * @param summary the bounds of the condition, in a few words
 * @param explained the bounds found, in words
 * @param routing how rows reach the partitions
 */
private[streamjoin] final case class StreamJoinSpec(
    joinType: JoinType,
    equiKeys: Seq[EquiKey],
    residual: Residual,
    leftFilters: Seq[Expression],
    rightFilters: Seq[Expression],
    output: Seq[Attribute],
    required: Seq[Attribute],
    late: Option[LateSpec],
    bases: Seq[BaseColumn],
    times: IndexedSeq[Expression],
    watermarks: JoinWatermarks,
    zones: Set[String],
    zoned: Seq[ZonedPart],
    summary: String,
    explained: Seq[String],
    routing: Routing
) {

  def bounds: JoinBounds = watermarks.bounds

  /** The keys whose rows are spread; none: all rows of a key are in one partition. */
  def hotKeys: Option[HotKeys] = Some(routing).collect { case Routing.ByKeyAndTime(_, hot) => hot }

  /** By which rows of a key can be spread; none: they can not be. */
  def hotBuckets: Option[ReachBuckets] = hotKeys.map(_.buckets).orElse(
    Option.when(equiKeys.nonEmpty && routing == Routing.ByKey)(
      bounds.buckets(bothCopied = Routing.single(joinType).isEmpty)
    ).flatten
  )

  /** The lags of those columns whose watermarks follow from their own values alone. */
  def lags: Map[Int, Long] = watermarks.inputs.zipWithIndex.collect {
    case (WatermarkPlan.Base(i), column) => bases(i) -> column
  }.collect { case (base: BaseColumn.Imposed, column) => column -> base.lag }.toMap
}

private[streamjoin] object StreamJoinSpec {

  /** @param timeBuckets whether rows that meet by their times alone may go by these */
  def of(
      analysis: JoinAnalysis,
      output: Seq[Attribute],
      required: Seq[Attribute],
      late: Option[LateSpec],
      summary: String,
      explained: Seq[String],
      timeBuckets: Boolean = true
  ): StreamJoinSpec =
    StreamJoinSpec(
      analysis.joinType,
      analysis.equiKeys,
      analysis.residual,
      analysis.leftFilters,
      analysis.rightFilters,
      output,
      required,
      late,
      analysis.bases,
      analysis.expressions,
      analysis.watermarks,
      analysis.zones,
      analysis.zoned,
      summary,
      explained,
      routing(analysis, timeBuckets)
    )

  /** Where no two rows can match, none need to meet: each goes to one partition. */
  private def routing(analysis: JoinAnalysis, timeBuckets: Boolean): Routing = {
    val single = Routing.single(analysis.joinType)
    val hasKey = analysis.equiKeys.nonEmpty || analysis.bounds.contradictory
    Option
      .when(timeBuckets && !hasKey)(analysis.bounds.buckets(bothCopied = single.isEmpty))
      .flatten
      .map(Routing.ByTime(single, _))
      .getOrElse(Routing.of(analysis.joinType, hasKey))
  }
}
