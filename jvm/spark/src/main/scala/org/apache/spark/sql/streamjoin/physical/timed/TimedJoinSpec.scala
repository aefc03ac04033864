package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  DescribedTimes,
  DescribedZone,
  HotKeySums,
  JoinDescription,
  StateFormat,
  StoredTimes
}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{EquiKey, JoinAnalysis, Residual}
import org.apache.spark.sql.streamjoin.logical.plan.options.LateRows
import org.apache.spark.sql.streamjoin.physical.stateful.shown.Explanation
import org.apache.spark.sql.streamjoin.physical.stateful.times.JoinTimes

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.placement.{HotKeys, ReachBuckets, Routing}

/**
 * The output of a join.
 *
 * @param columns the columns that the join could emit
 * @param required the columns that the query above it reads, in the order of the output
 * @param late how late rows are emitted; none: they are dropped
 */
private[streamjoin] final case class JoinOutput(
    columns: Seq[Attribute],
    required: Seq[Attribute],
    late: Option[LateSpec] = None
)

/**
 * Specification of an event-time join for its tasks.
 *
 * @param residual the part of the condition that remains after the probe
 * @param filters the conjuncts that reference one input only
 * @param routing how rows are distributed over partitions
 * @param keepsKeys whether the rows of a key must stay in one partition, for an order above
 */
private[streamjoin] final case class TimedJoinSpec(
    joinType: JoinType,
    equiKeys: Seq[EquiKey],
    residual: Residual,
    filters: BySide[Seq[Expression]],
    output: JoinOutput,
    times: JoinTimes,
    explanation: Explanation,
    routing: Routing,
    keepsKeys: Boolean = false,
    hotKeySums: HotKeySums = HotKeySums.NoKeys
) {

  def bounds: JoinBounds = times.bounds

  def keys(side: Side): Seq[Expression] = equiKeys.map(_.of(side))

  /** The hot keys, whose rows are spread. None: all rows of a key are in one partition. */
  def hotKeys: Option[HotKeys] = Some(routing).collect { case Routing.ByKeyAndTime(_, hot) => hot }

  /** The time buckets by which rows of a hot key can be spread. None: they cannot be spread. */
  def hotBuckets: Option[ReachBuckets] = hotKeys.map(_.buckets).orElse(
    Option.when(equiKeys.nonEmpty && routing == Routing.ByKey)(
      bounds.buckets(bothCopied = Routing.single(joinType).isEmpty)
    ).flatten
  )

  /** The keys, each with its number, and the times, each with its text in the description. */
  def identifying: Seq[(String, Expression)] = {
    val used = Side.both.flatMap(side => bounds.probeColumn(side) +: bounds.limiting(side))
    StoredTimes.keys(equiKeys) ++ new StoredTimes(times.expressions, bounds).named(used)
  }

  /** The description that is stored beside the state. */
  def description(format: StateFormat): JoinDescription = {
    val stored = new StoredTimes(times.expressions, bounds)
    JoinDescription(
      format.name,
      joinType,
      routing,
      equiKeys.map(StoredTimes.sql(_)),
      DescribedTimes(
        times.bases.map(_.name),
        stored.proved,
        BySide.of(s => stored(bounds.probeColumn(s))),
        BySide.of(bounds.limiting(_).map(stored(_))),
        stored.said
      ),
      DescribedZone.of(
        equiKeys.flatMap(k => Seq(k.left, k.right)) ++ times.expressions,
        times.zones,
        times.zoned.map(part => part.sql -> part.zones)
      ),
      DescribedKind.EventTime
    )
  }
}

private[streamjoin] object TimedJoinSpec {

  /** @param timeBuckets whether a join without an equality may be routed by time bucket */
  def of(
      analysis: JoinAnalysis,
      output: JoinOutput,
      explanation: Explanation,
      timeBuckets: Boolean = true
  ): TimedJoinSpec = {
    TimedJoinSpec(
      analysis.joinType,
      analysis.equiKeys,
      analysis.residual,
      analysis.filters,
      output,
      JoinTimes.of(analysis),
      explanation,
      routing(analysis, timeBuckets)
    )
  }

  /** If no two rows can match, no rows need to meet, and each one is routed to one partition. */
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

/**
 * Specification of the late rows that the tasks of a join emit.
 *
 * @param zone the time zone in which watermarks are written
 */
private[streamjoin] final case class LateSpec(rows: LateRows, zone: String)
