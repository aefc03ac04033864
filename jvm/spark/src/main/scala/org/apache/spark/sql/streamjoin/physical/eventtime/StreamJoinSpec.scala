package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streamjoin.logical.plan.{EquiKey, JoinAnalysis, Residual, ZonedPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{BySide, JoinType}
import io.streamjoin.placement.{HotKeys, ReachBuckets, Routing}
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * The event times of a join.
 *
 * @param bases where the watermarks start, in the order in which they are stored
 * @param expressions the expression behind each column of the bounds
 * @param zones the time zones of the session that the bounds depend on
 * @param zoned what of the inputs' keys and times depends on one
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

  /** The lags of those columns whose watermarks follow from their own values alone. */
  def lags: Map[Int, Long] = watermarks.inputs.zipWithIndex.collect {
    case (WatermarkPlan.Base(i), column) => bases(i) -> column
  }.collect { case (base: BaseColumn.Imposed, column) => column -> base.lag }.toMap
}

/**
 * The output of a join.
 *
 * @param columns the columns that it may have
 * @param required those that a query above it reads, in the order of the output
 * @param late how late rows are emitted; none: they are dropped
 */
private[streamjoin] final case class JoinOutput(
    columns: Seq[Attribute],
    required: Seq[Attribute],
    late: Option[LateSpec] = None
)

/**
 * The words of `explain` on a join.
 *
 * @param lines the lines below the node
 * @param summary the bounds of the times, for the line of the node
 */
private[streamjoin] final case class ExplainedJoin(lines: Seq[String], summary: String)

/**
 * What the tasks of a join need to know of its analysis.
 *
 * @param residual what of the condition a probe does not settle
 * @param filters the conjuncts on one input alone
 * @param said what `explain` says of the bounds
 * @param routing how rows reach the partitions
 */
private[streamjoin] final case class StreamJoinSpec(
    joinType: JoinType,
    equiKeys: Seq[EquiKey],
    residual: Residual,
    filters: BySide[Seq[Expression]],
    output: JoinOutput,
    times: JoinTimes,
    said: ExplainedJoin,
    routing: Routing
) {

  def bounds: JoinBounds = times.bounds

  /** The keys whose rows are spread; none: all rows of a key are in one partition. */
  def hotKeys: Option[HotKeys] = Some(routing).collect { case Routing.ByKeyAndTime(_, hot) => hot }

  /** By which rows of a key can be spread; none: they can not be. */
  def hotBuckets: Option[ReachBuckets] = hotKeys.map(_.buckets).orElse(
    Option.when(equiKeys.nonEmpty && routing == Routing.ByKey)(
      bounds.buckets(bothCopied = Routing.single(joinType).isEmpty)
    ).flatten
  )
}

private[streamjoin] object StreamJoinSpec {

  /** @param timeBuckets whether rows that meet by their times alone may go by these */
  def of(
      analysis: JoinAnalysis,
      output: JoinOutput,
      said: ExplainedJoin,
      timeBuckets: Boolean = true
  ): StreamJoinSpec = {
    import analysis.{bases, expressions, watermarks, zones, zoned}
    StreamJoinSpec(
      analysis.joinType,
      analysis.equiKeys,
      analysis.residual,
      analysis.filters,
      output,
      JoinTimes(bases, expressions, watermarks, zones, zoned),
      said,
      routing(analysis, timeBuckets)
    )
  }

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
