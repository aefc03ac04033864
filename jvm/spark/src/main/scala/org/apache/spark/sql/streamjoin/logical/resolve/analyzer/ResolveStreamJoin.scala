package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.streamjoin.logical.plan.{
  AsOfJoin,
  EventTimeMarks,
  ImposeOrder,
  JoinKind,
  StreamJoinHint,
  UnresolvedStreamJoin
}
import org.apache.spark.sql.streamjoin.logical.resolve.eventtime.{BuiltinJoin, StreamJoinBuilder}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.JoinRefusals
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal
import org.apache.spark.sql.streamjoin.spark.DataFrameJoins

/**
 * A join of two streams of which one has an imposed order becomes this project's join, and one of
 * streams with Spark's own watermarks where the settings say so.
 *
 * Looks into plans that have been analysed before, for a join may have had to wait there: see
 * [[isAwaited]].
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
   * What was resolved above an as-of join before it became ours may take a column for an event time that
   * is none any more. What is not resolved yet will see the columns as they are.
   */
  private def seenAbove(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[AsOfJoin])) plan
    else
      plan.transformUp {
        case p if p.childrenResolved && p.children.exists(_.exists(_.isInstanceOf[AsOfJoin])) =>
          val (times, others) = p.children.flatMap(_.output).partition { a =>
            EventTimeMarks.of(Seq(a)).nonEmpty
          }
          val lost = AttributeSet(others) -- times
          p.transformExpressions {
            case a: Attribute if a.resolved && lost.contains(a) =>
              EventTimeMarks.unmarked(a)
            // a window was marked by the time it is made of
            case a: Alias
                if a.resolved && a.references.nonEmpty && a.references.subsetOf(lost) =>
              EventTimeMarks.unmarked(a)
          }
      }

  /** @param retained whether a retention may stand in for bounds of inner joins */
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

  /** What lacks bounds, here or in a join below, stays as it is for now, for WHERE may have them. */
  private def later(refusal: Refusal, plan: LogicalPlan): LogicalPlan =
    if (refusal.awaitsBound) plan else throw refusal.error

  /**
   * Some of Spark's DataFrame operations resolve a join by itself, in a first step, and want to see
   * one of their own then: `df.join(df, ...)` of a DataFrame with itself, `joinWith`, joins by column
   * names; on Spark 4.0 each join. Such a join becomes ours with whatever is put on top of it, or with
   * [[ResolveAwaitedJoin]].
   */
  private[logical] def isAwaited(j: Join): Boolean =
    j.resolved && isOurs(j) && (isSelfJoin(j) || DataFrameJoins.castToJoin) ||
      BuiltinJoin.unapply(j).nonEmpty

  /** Those of changelogs are built before, by [[ResolveChangelogJoin]]. */
  private def isOurs(j: Join): Boolean = JoinKind.required(j).exists(_ != JoinKind.Changelog)

  private def isSelfJoin(j: Join): Boolean =
    j.left.collectLeaves().exists(l => j.right.collectLeaves().exists(l.sameResult(_)))
}

/**
 * Makes a join ours on which nothing was put, before it is optimized; and one that still lacks its
 * condition or bounds, or refuses it.
 */
object ResolveAwaitedJoin extends Rule[LogicalPlan] {

  /** Refuses a join without a condition or bounds, unless they may still be put on top of it. */
  def check(plan: LogicalPlan): Unit = plan match {
    case j: Join if j.condition.isEmpty || ResolveStreamJoin.isAwaited(j) =>
      j.children.foreach(check)
    case _ => refuse(plan)
  }

  private def refuse(plan: LogicalPlan): Unit = plan.foreach {
    case j: Join if j.resolved && JoinKind.required(j).exists(_.byEventTime) =>
      CurrentOrigin.withOrigin(j.origin)(JoinBuilder.required(j))
    case o: ImposeOrder if o.imposed && o.resolved =>
      StreamJoinBuilder
        .bounded(o.child, behindStateful = true)
        .left.foreach(refusal => throw refusal.error)
    case j: Join if j.childrenResolved && JoinKind.required(j).exists(_.byEventTime) =>
      j.condition.foreach(JoinRefusals.checkWindows(_, j.origin))
    case _ =>
  }

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val taken = plan match {
      case j: Join if StreamJoinHint.on(j).exists(_.addsColumns) =>
        throw CheckJoinHints.lacksColumns(j)
      case j: Join if j.isStreaming || JoinKind.of(j).nonEmpty =>
        ResolveStreamJoin(Project(j.output, j)).children.head
      case _ => plan
    }
    CheckJoinHints.settled(taken.transform {
      case j: Join if JoinKind.required(j).contains(JoinKind.EventTime) =>
        StreamJoinBuilder.required(j)
    })
  }
}
