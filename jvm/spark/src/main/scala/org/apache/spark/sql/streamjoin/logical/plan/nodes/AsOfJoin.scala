package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.{EventTimeMarks, NamedTime}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{AliasedColumn, EquiKey}
import org.apache.spark.sql.streamjoin.logical.plan.changes.{ChangelogMarks, EndsChanges, Versions}
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, LateRows}
import org.apache.spark.sql.streamjoin.logical.times.{TimeColumns, TimeFact}

import io.streamjoin.join.asof.AsOfBounds
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.watermark.WatermarkPlan

/**
 * Logical node of the as-of join: joins each row of one input, the probe side, with the last rows
 * of its key in the other.
 *
 * {{{
 *   trades t, last quote q of the symbol with q.time <= t.time
 *
 *   quotes   12:00   12:05   12:10
 *   trade    12:07                    joined with the quote of 12:05
 * }}}
 *
 * Conjuncts on one input stay in the condition. They are evaluated on the last rows, and do not
 * restrict the rows among which the last ones are chosen.
 *
 * @param condition the whole condition, without the conjuncts that `bounds` expresses
 * @param timed the event times of the left and the right input
 * @param options the options of the join in the query
 * @param versions the columns of a build side that is a changelog; none: its rows are inserts
 * @param late the late rows that it emits; none: it drops late rows
 * @param aliased the columns of the condition with their aliases in the query
 */
case class AsOfJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    condition: Expression,
    timed: Seq[NamedTime],
    bounds: AsOfBounds,
    override val options: JoinOptions = JoinOptions(),
    versions: Option[Versions] = None,
    override val late: Option[LateRows] = None,
    aliased: Seq[AliasedColumn] = Nil
) extends JoinNode
    with EndsChanges {

  override def kind: JoinKind = JoinKind.AsOf

  override def output: Seq[Attribute] = emittedWithLate(BySide.of(emitted))(markedAsTime)

  /** The columns of a side that the join emits. */
  private def emitted(side: Side): Seq[Attribute] = versions match {
    case Some(v) if side == bounds.build =>
      val hidden = AttributeSet(v.hidden)
      input(side).output.filterNot(hidden.contains).map(ChangelogMarks.unmarked)
    case _ => input(side).output
  }

  override def readsChanges: Boolean = versions.nonEmpty

  /** The equalities by which rows are looked up. With versions, only those of their key. */
  def equiKeys: Seq[EquiKey] = {
    val all = analysis.equiKeys
    versions.fold(all)(v => all.filter(k => v.keyColumn(k.of(bounds.build)).nonEmpty))
  }

  /** Removes Spark's event-time mark from a column that has no watermark above the join. */
  private def markedAsTime(a: Attribute): Attribute =
    if (!resolved || !TimeColumns.isMarked(a) || timeColumns.isWatermarked(a)) a
    else EventTimeMarks.unmarked(a)

  /** The event time of a side. */
  def time(side: Side): Attribute = times(side.index)

  /** The display name of the event time of a side. */
  def timeName(side: Side): String = names(side.index)

  override def rowtime: Option[Attribute] = Some(time(bounds.probe))

  @transient private lazy val inputTimes: TimeColumns =
    TimeColumns.of(left) ++ TimeColumns.of(right)

  /** The watermark of a side below the join. */
  def watermark(side: Side): WatermarkPlan =
    inputTimes.columns(time(side).exprId)

  /** The time below which both inputs are complete. */
  def limit: WatermarkPlan = bounds.limitPlan(watermark)

  override def timeColumns: TimeColumns = {
    val (probe, build) = (time(bounds.probe).exprId, time(bounds.build).exprId)
    val ofProbe = bounds.outputWatermark(bounds.probe, limit).map(probe -> _)
    val ofBuild = bounds.outputWatermark(bounds.build, limit).filterNot(_ => joinType.leftOnly)
      .map(build -> _)
    inputTimes.copy(
      columns = (ofProbe ++ ofBuild).toMap,
      facts =
        if (ofBuild.isEmpty) Nil
        else {
          TimeFact(probe, build, bounds.reach) +:
            bounds.tolerance.map(TimeFact(build, probe, _)).toSeq
        },
      present = inputTimes.present.intersect(Set(probe)),
      padded = analysis.padded
    )
  }

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): AsOfJoin = copy(left = newLeft, right = newRight)
}
