package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.UnresolvedStar
import org.apache.spark.sql.catalyst.plans.{NaturalJoin, UsingJoin}
import org.apache.spark.sql.catalyst.plans.logical.{
  AnalysisHelper,
  Filter,
  Join,
  LogicalPlan,
  Project
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  JoinKind,
  JoinNode,
  StreamJoinHint,
  UnresolvedChangelog,
  UnresolvedStreamJoin
}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.JoinRefusals
import org.apache.spark.sql.streamjoin.spark.DataFrameJoins

/**
 * Analyzer rule that keeps the nodes above a join unresolved if the join will add columns. It runs
 * before Spark resolves anything.
 *
 * Some DataFrame operations of Spark resolve a join separately in a first step. This rule leaves
 * such a join to the second step, see [[TwoStepJoins]].
 */
object HoldHintedJoins extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(JOIN)) plan
    else
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        plan match {
          case j: Join if isSecondStep(j) => JoinBuilder.required(j)
          case j: Join if isFirstStep(j)  => j.mapChildren(held)
          case j: Join if isWhole(j)      => Project(Seq(UnresolvedStar(None)), held(j))
          case _                          => held(plan)
        }
      }

  private def held(plan: LogicalPlan): LogicalPlan = plan match {
    case u: UnresolvedStreamJoin => u
    case j: Join if !j.resolved && StreamJoinHint.options(j).exists(mayAddColumns(j, _)) =>
      JoinBuilder.hold(j.mapChildren(held).asInstanceOf[Join])
    case f: Filter => EarlyBounds.placed(f).mapChildren(held)
    case other     => other.mapChildren(held)
  }

  /**
   * Whether the join may add columns. An unresolved changelog below occurs where Spark resolves a
   * query as a whole: over Spark Connect, and in SQL.
   */
  private def mayAddColumns(j: Join, options: JoinOptions): Boolean =
    options.addsColumns || j.exists(_.isInstanceOf[UnresolvedChangelog])

  /** Whether the join is the whole query, as over Spark Connect. It gets the columns of `*`. */
  private def isWhole(j: Join): Boolean = !j.childrenResolved && StreamJoinHint.options(j).nonEmpty

  private def isSecondStep(j: Join): Boolean =
    j.resolved && j.condition.nonEmpty && StreamJoinHint.options(j).exists(_.addsColumns)

  private def isFirstStep(j: Join): Boolean = j.joinType match {
    case _: NaturalJoin | _: UsingJoin => false
    case _ =>
      j.condition.isEmpty || j.childrenResolved && (!j.duplicateResolved || DataFrameJoins.castToJoin)
  }
}

/** Refuses a hint that is not on a join of streams. */
object CheckJoinHints extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = {
    // a DataFrame with a hint is analyzed before it is joined
    check(StreamJoinHint.on(plan).fold(plan)(_.child))
  }

  /** A complete plan, above which no join follows. */
  def settled(plan: LogicalPlan): LogicalPlan = {
    check(plan)
    plan.transform { case h: StreamJoinHint => h.child }
  }

  private def check(plan: LogicalPlan): Unit = if (plan.exists(_.isInstanceOf[StreamJoinHint])) {
    val joins = plan.collect { case j: Join if StreamJoinHint.options(j).nonEmpty => j }
    val placed = joins.flatMap(j => StreamJoinHint.on(j.left))
    plan.foreach {
      case h: StreamJoinHint if !placed.exists(_ eq h) =>
        throw JoinOptions.refusal("the hint is not on the left input of a join")(h.origin)
      case _ =>
    }
    val served = plan.collect { case s: JoinNode => s.options.hint } ++
      joins.filter(JoinKind.of(_).nonEmpty).flatMap(StreamJoinHint.options).map(_.hint)
    joins.foreach { j =>
      if (JoinKind.of(j).isEmpty && !served.contains(StreamJoinHint.options(j).get.hint))
        throw notOfStreams(j)
    }
  }

  /** The error for a self-join of a DataFrame, to which Spark allows no further column. */
  def lacksColumns(j: Join): StreamJoinAnalysisException =
    JoinOptions.refusal(
      "the join emits late rows with an additional column, which this join of a stream with " +
        "itself lacks. Add select(\"*\") to the join"
    )(j.origin)

  private def notOfStreams(j: Join) = JoinRefusals.ofTable(j)
    .getOrElse(StreamJoinErrors.unsupportedJoinType(j.origin, j.joinType.sql))
}
