package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.streamjoin.logical.plan.EventTimeMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  AsOfJoin,
  ImposeOrder,
  JoinKind,
  StreamJoinHint,
  UnresolvedStreamJoin
}
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.{BuiltinJoin, StreamJoinBuilder}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

/**
 * Analyzer rule that replaces a join of two streams by this project's join, if an input has a
 * watermarked event-time column. If the settings say so, it also replaces joins of streams with
 * Spark's own watermarks.
 *
 * It also visits plans that are already analyzed, since a join may wait in one: see [[isAwaited]].
 */
object ResolveStreamJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      if (plan.containsPattern(JOIN)) joined(plan) else plan
    }

  private def joined(plan: LogicalPlan): LogicalPlan = {
    lazy val retained = !plan.exists(PlaceWindows.mayBringBounds)
    val made = joins(retained)
    def below(top: LogicalPlan): LogicalPlan = top match {
      case j: Join =>
        j.mapChildren(_.transformUp(made)) match {
          case k: Join if isAwaited(k) => k
          case k                       => made.applyOrElse(k, identity[LogicalPlan])
        }
      case _ => top.transformUp(made)
    }
    seenAbove(below(plan))
  }

  /**
   * Corrects references above an as-of join that were resolved before the join was built. They may
   * mark a column as an event time that is none above the join. Unresolved references will find the
   * new columns.
   */
  private def seenAbove(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[AsOfJoin])) plan
    else
      plan.transformUp {
        case p if p.childrenResolved && p.children.exists(_.exists(_.isInstanceOf[AsOfJoin])) =>
          val (times, others) = p.children.flatMap(_.output).partition(TimeColumns.isMarked)
          val lost = AttributeSet(others) -- times
          p.transformExpressions {
            case a: Attribute if a.resolved && lost.contains(a) =>
              EventTimeMarks.unmarked(a)
            // Spark marked a window by the time that it is computed from
            case a: Alias
                if a.resolved && a.references.nonEmpty && a.references.subsetOf(lost) =>
              EventTimeMarks.unmarked(a)
          }
      }

  /** @param retained whether a retention may replace missing bounds of inner joins */
  private def joins(retained: => Boolean): PartialFunction[LogicalPlan, LogicalPlan] = {
    case j: Join if isComplete(j) && isOurs(j) =>
      JoinBuilder
        .build(j, !j.joinType.isInstanceOf[InnerLike] || retained)
        .fold(later(_, j), identity)
    case UnresolvedStreamJoin(child) if child.resolved => JoinBuilder.released(child)
    case BuiltinJoin(j)                                => BuiltinJoin.replaced(j).getOrElse(j)
    case o: ImposeOrder if o.imposed =>
      StreamJoinBuilder
        .bounded(o.child, behindStateful = true)
        .fold(later(_, o), child => o.withNewChildren(Seq(child)))
  }

  private def isComplete(j: Join): Boolean =
    j.resolved && j.condition.nonEmpty && !StreamJoinHint.isHeld(j)

  /**
   * Leaves a plan unchanged for now if it lacks bounds, here or in a join below. WHERE may still
   * add them.
   */
  private def later(refusal: Refusal, plan: LogicalPlan): LogicalPlan =
    if (refusal.awaitsBound) plan else throw refusal.error

  /**
   * Whether a join waits for another analysis, see [[TwoStepJoins]]. This rule replaces such a join
   * when the query has another node above it. [[ResolveAwaitedJoin]] replaces it if there is none.
   */
  private[logical] def isAwaited(j: Join): Boolean =
    j.resolved && isOurs(j) && TwoStepJoins.isByCondition(j) || BuiltinJoin.unapply(j).nonEmpty

  /** [[ResolveChangelogJoin]] builds changelog joins before this rule. */
  private def isOurs(j: Join): Boolean = JoinKind.required(j).exists(_ != JoinKind.Changelog)
}

/**
 * Analyzer rule that replaces a join at the top of a plan before it is optimized. It also replaces,
 * or refuses, a join that still lacks its condition or bounds.
 */
object ResolveAwaitedJoin extends Rule[LogicalPlan] {

  /** Refuses a join without a condition or bounds, unless a node above may still add them. */
  object Check extends (LogicalPlan => Unit) {
    override def apply(plan: LogicalPlan): Unit = plan match {
      case j: Join if j.condition.isEmpty || ResolveStreamJoin.isAwaited(j) =>
        j.children.foreach(apply)
      case _ => refuse(plan)
    }

    private def refuse(plan: LogicalPlan): Unit = plan.foreach {
      case j: Join if j.resolved && JoinKind.required(j).exists(_.byEventTime) =>
        CurrentOrigin.withOrigin(j.origin)(JoinBuilder.required(j))
      case o: ImposeOrder if o.imposed && o.resolved =>
        StreamJoinBuilder
          .bounded(o.child, behindStateful = true)
          .left.foreach(refusal => throw refusal.error)
      case _ =>
    }
  }

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val taken = plan match {
      case j: Join if StreamJoinHint.options(j).exists(_.addsColumns) =>
        throw CheckJoinHints.lacksColumns(j)
      case j: Join if j.isStreaming || JoinKind.of(j).nonEmpty =>
        ResolveStreamJoin(Project(j.output, j)).children.head
      case _ => plan
    }
    CheckJoinHints.settled(taken.transform {
      case j: Join if JoinKind.required(j).contains(JoinKind.EventTime) =>
        JoinBuilder.required(j)
    })
  }
}
