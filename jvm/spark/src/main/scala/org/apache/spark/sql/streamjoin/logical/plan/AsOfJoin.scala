package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.times.{DistinctAttributes, TimeColumns, TimeFact}

import io.streamjoin.join.asof.AsOfBounds
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.watermark.WatermarkPlan

/**
 * The join of each row of one stream, the probe side, with the last rows of its key of the other.
 *
 * What the condition says of one input stays in it: it is asked of the last rows, and must not choose
 * among all.
 *
 * @param condition the whole condition, without what the choice of the last rows itself says
 * @param timed the event time of the left input and that of the right
 * @param options what the person asked of it
 * @param aliased the columns of the condition under the aliases that the person gave
 */
case class AsOfJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    condition: Expression,
    timed: Seq[NamedTime],
    bounds: AsOfBounds,
    override val options: JoinOptions = JoinOptions(),
    aliased: Seq[AliasedColumn] = Nil
) extends JoinNode {

  override def kind: JoinKind = JoinKind.AsOf
  override def times: Seq[Attribute] = timed.map(_.column)
  override def names: Seq[String] = timed.map(_.name)

  /** Without `aliased`, which stand in the condition. */
  override protected def stringArgs: Iterator[Any] = productIterator.take(productArity - 1)

  override def output: Seq[Attribute] =
    emitted(BySide(left.output, right.output)).map(a =>
      markedAsTime(DistinctAttributes.unmarked(a))
    )

  /** A column that the join leaves without a watermark must not look as if it had one. */
  private def markedAsTime(a: Attribute): Attribute =
    if (!resolved || EventTimeMarks.of(Seq(a)).isEmpty || timeColumns.isWatermarked(a)) a
    else EventTimeMarks.unmarked(a)

  /** The event time of a side. */
  def time(side: Side): Attribute = times(side.index)

  override def rowtime: Option[Attribute] = Some(time(bounds.probe))

  @transient private lazy val inputTimes: TimeColumns =
    TimeColumns.of(left) ++ TimeColumns.of(right)

  /** The watermark of a side below the join. */
  def watermark(side: Side): WatermarkPlan =
    inputTimes.columns(time(side).exprId)

  /** The time below which all rows of both sides have come. */
  def limit: WatermarkPlan = WatermarkPlan.AsOfLimit(
    Seq(WatermarkPlan.Shifted(watermark(bounds.probe), bounds.reach), watermark(bounds.build))
  )

  /** A row comes out when the limit has passed it, and a match is no older than the tolerance. */
  override def timeColumns: TimeColumns = {
    val both = inputTimes
    val (probe, build) = (time(bounds.probe).exprId, time(bounds.build).exprId)
    val ofProbe = probe -> WatermarkPlan.Shifted(limit, -bounds.reach)
    val ofBuild = bounds.tolerance.filterNot(_ => joinType.leftOnly).map { t =>
      build -> WatermarkPlan.Shifted(limit, -bounds.reach - t)
    }
    both.copy(
      columns = (ofProbe +: ofBuild.toSeq).toMap,
      facts =
        if (ofBuild.isEmpty) Nil
        else {
          TimeFact(probe, build, bounds.reach) +:
            bounds.tolerance.map(TimeFact(build, probe, _)).toSeq
        },
      present = both.present.intersect(Set(probe)),
      padded = analysis.padded
    )
  }

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): AsOfJoin = copy(left = newLeft, right = newRight)
}
