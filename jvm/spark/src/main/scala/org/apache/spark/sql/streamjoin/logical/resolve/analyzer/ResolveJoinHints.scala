package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.UnresolvedStar
import org.apache.spark.sql.catalyst.plans.{NaturalJoin, UsingJoin}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.{
  JoinKind,
  JoinNode,
  JoinOptions,
  StreamJoinHint,
  UnresolvedChangelog,
  UnresolvedStreamJoin
}
import org.apache.spark.sql.streamjoin.spark.DataFrameJoins

import io.streamjoin.model.Side

/**
 * Holds back what is above a join that is to have columns of its own, before Spark resolves anything.
 *
 * A join that some DataFrame operation of Spark's resolves by itself, in a first step, is left to the
 * second: see [[ResolveStreamJoin.isAwaited]].
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
    case j: Join if !j.resolved && StreamJoinHint.on(j).exists(mayAddColumns(j, _)) =>
      JoinBuilder.hold(j.mapChildren(held).asInstanceOf[Join])
    case other => other.mapChildren(held)
  }

  /** Of changes that are declared below, where Spark resolves a query as a whole: over Spark Connect, and in SQL. */
  private def mayAddColumns(j: Join, options: JoinOptions): Boolean =
    options.addsColumns || j.exists(_.isInstanceOf[UnresolvedChangelog])

  /** Over Spark Connect a join with nothing on it is asked for its columns: those of the result, as `*` has them. */
  private def isWhole(j: Join): Boolean = !j.childrenResolved && StreamJoinHint.on(j).nonEmpty

  private def isSecondStep(j: Join): Boolean =
    j.resolved && j.condition.nonEmpty && StreamJoinHint.on(j).exists(_.addsColumns)

  private def isFirstStep(j: Join): Boolean = j.joinType match {
    case _: NaturalJoin | _: UsingJoin => false
    case _ =>
      j.condition.isEmpty || j.childrenResolved && (!j.duplicateResolved || DataFrameJoins.castToJoin)
  }
}

/** Refuses a hint that no join of streams has taken in. */
object CheckJoinHints extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = {
    // a DataFrame is analysed before it is joined
    check(StreamJoinHint.of(plan).fold(plan)(_.child))
  }

  /** A plan on which no join is put any more. */
  def settled(plan: LogicalPlan): LogicalPlan = {
    check(plan)
    plan.transform { case h: StreamJoinHint => h.child }
  }

  private def check(plan: LogicalPlan): Unit = if (plan.exists(_.isInstanceOf[StreamJoinHint])) {
    val joins = plan.collect { case j: Join if StreamJoinHint.on(j).nonEmpty => j }
    val placed = joins.flatMap(j => StreamJoinHint.of(j.left))
    plan.foreach {
      case h: StreamJoinHint if !placed.exists(_ eq h) =>
        throw JoinOptions.refusal("the hint is not on the left input of a join")(h.origin)
      case _ =>
    }
    val served = plan.collect { case s: JoinNode => s.options.hint } ++
      joins.filter(JoinKind.of(_).nonEmpty).flatMap(StreamJoinHint.on).map(_.hint)
    joins.foreach { j =>
      if (JoinKind.of(j).isEmpty && !served.contains(StreamJoinHint.on(j).get.hint))
        throw notOfStreams(j)
    }
  }

  /** A join of a DataFrame with itself, to which Spark has let nothing be added. */
  def lacksColumns(j: Join): StreamJoinAnalysisException =
    JoinOptions.refusal(
      "late rows come out with a column that this join of a stream with itself lacks; put " +
        "select(\"*\") on it"
    )(j.origin)

  private def notOfStreams(j: Join) = {
    val sides = Side.both.zip(j.children)
    sides.find(!_._2.isStreaming) match {
      case Some((side, table)) =>
        StreamJoinErrors.staticInput(j.origin, side.name, table.output.map(ColumnNames.of))
      case None => StreamJoinErrors.unsupportedJoinType(j.origin, j.joinType.sql)
    }
  }
}
