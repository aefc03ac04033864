package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  JoinNode,
  KeyedWatermarks,
  RelationWindow,
  StreamJoinHint
}
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinTypes, JoinWindows}
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{JoinType, Side}

/**
 * The event time of a row, `ROWTIME`.
 *
 * {{{
 *   stream                               its column with a watermark
 *   joined row, one input with window    time of the row without a window
 *   joined row, both with windows        first time at which both rows are in their windows
 *   joined row, no windows               the later of both times
 *   unmatched row                        time at which the row leaves its window
 *   row joined with last rows            its own time
 * }}}
 *
 * Source: SQLstream s-Server, "Streaming Joins".
 */
private[streamjoin] object Rowtime {

  /** Whether an expression contains an unqualified ROWTIME, which may be the time of a join. */
  private[logical] def isUnqualifiedIn(e: Expression): Boolean = e.exists {
    case UnresolvedAttribute(Seq(name)) => isCalled(name)
    case _                              => false
  }

  private[logical] def isCalled(name: String): Boolean = name.equalsIgnoreCase("ROWTIME")

  /** @return the event time of a plan's rows, or the columns if the choice is ambiguous */
  def of(plan: LogicalPlan): Either[Seq[Attribute], Expression] = plan match {
    case j: Join if j.getTagValue(JoinWindows.Placed).nonEmpty =>
      JoinTypes.of(j.joinType).fold(column(plan))(joined(j, _))
    case j: JoinNode if j.kind.byEventTime =>
      j.rowtime.fold(joined(j, j.joinType))(Right(_))
    case _: Filter | _: SubqueryAlias | _: View | _: PipeOperator | _: RelationWindow |
        _: StreamJoinInput | _: StreamJoinHint =>
      of(plan.children.head)
    case p: Project =>
      of(p.child).filterOrElse(_.references.subsetOf(p.outputSet), Nil).orElse(column(p))
    case _ => column(plan)
  }

  /** The columns of a plan with a watermark. */
  def columns(plan: LogicalPlan): Seq[Attribute] = plan match {
    // before it is known whether this project or Spark executes the join
    case _: Join | _: Filter | _: SubqueryAlias | _: PipeOperator | _: StreamJoinHint =>
      val below = AttributeSet(plan.children.flatMap(columns))
      plan.output.filter(below.contains)
    // for USING, above such a join
    case Project(list, child) =>
      val below = AttributeSet(columns(child))
      val times = TimeColumns.of(KeyedWatermarks.of(plan))
      list.collect {
        case e if times.isWatermarked(e.toAttribute)           => e.toAttribute
        case e if TimeColumns.passed(e).exists(below.contains) => e.toAttribute
      }
    case _ => TimeColumns.watermarked(KeyedWatermarks.of(plan))
  }

  private def column(plan: LogicalPlan): Either[Seq[Attribute], Expression] = columns(plan) match {
    case Seq(one) => Right(one)
    case several  => Left(several)
  }

  private def joined(join: BinaryNode, joinType: JoinType): Either[Seq[Attribute], Expression] =
    (of(join.left), of(join.right)) match {
      case (Right(l), Right(r)) if !joinType.leftOnly =>
        (join.getTagValue(JoinWindows.Placed), join) match {
          case (Some(windows), _)  => Right(inWindows(windows, joinType, l, r))
          case (None, j: JoinNode) => withoutWindows(j, l, r).fold(column(j))(Right(_))
          case _                   => column(join)
        }
      case _ => column(join)
    }

  /**
   * The event time of a join without windows. For a joined row it is the later time. For an
   * unmatched row it is the time from which no partner can arrive by the bounds.
   */
  private def withoutWindows(
      j: JoinNode,
      left: Expression,
      right: Expression
  ): Option[Expression] = {
    def column(e: Expression) = Some(j.analysis.expressions.indexWhere(_.semanticEquals(e)))
      .filter(_ >= 0)
    def gone(own: Expression, other: Expression) = for {
      a <- column(own)
      b <- column(other)
      reach = j.analysis.bounds.slack(a, b)
      if reach != JoinBounds.Unbounded
    } yield JoinWindows.plus(own, math.max(reach, 0L))
    def orElse(kept: Side, gone: => Option[Expression], other: Expression, e: Expression) =
      if (j.joinType.preserves(kept)) gone.map(If(IsNull(other), _, e)) else Some(e)
    for {
      inner <- orElse(Side.Right, gone(right, left), left, Greatest(Seq(left, right)))
      whole <- orElse(Side.Left, gone(left, right), right, inner)
    } yield whole
  }

  private def inWindows(
      windows: JoinWindows,
      joinType: JoinType,
      left: Expression,
      right: Expression
  ): Expression = {
    import JoinWindows.{plus, NoWindow}
    val JoinWindows(l, r) = windows
    val (leftKept, rightKept) = (joinType.preserves(Side.Left), joinType.preserves(Side.Right))
    // the time at which an unmatched row leaves its window
    val (leftGone, rightGone) = (plus(left, -l.from), plus(right, -r.from))
    if (l == NoWindow) { if (rightKept) Coalesce(Seq(left, rightGone)) else left }
    else if (r == NoWindow) { if (leftKept) Coalesce(Seq(right, leftGone)) else right }
    else {
      val met = Greatest(Seq(plus(left, -l.to), plus(right, -r.to)))
      val orRight = if (rightKept) If(IsNull(left), rightGone, met) else met
      if (leftKept) If(IsNull(right), leftGone, orRight) else orRight
    }
  }
}
