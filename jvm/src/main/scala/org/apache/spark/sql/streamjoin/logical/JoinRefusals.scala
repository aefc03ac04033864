package org.apache.spark.sql.streamjoin.logical

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  PythonFuncExpression,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.Origin
import org.apache.spark.sql.streamjoin.bounds.{RejectedBound, TimeUnit}
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}

import io.streamjoin.core.Side

/**
 * Refuses joins whose state could not be bounded, each with the condition that would mend it.
 *
 * Fails closed: what cannot be proven is refused, never run with state that grows without end.
 */
private[streamjoin] object JoinRefusals {

  def check(join: StreamJoin): Unit = {
    checkEvaluable(join)
    Side.both.foreach(checkWatermark(join, _))
    Side.both.foreach(checkBounded(join, _))
  }

  private def input(join: StreamJoin, side: Side): LogicalPlan =
    if (side == Side.Left) join.left else join.right

  private def times(join: StreamJoin, side: Side): Seq[Attribute] =
    join.times.filter(input(join, side).outputSet.contains)

  /** What only Spark's own operators evaluate, by ways of their own. */
  private def checkEvaluable(join: StreamJoin): Unit = {
    def refused(e: Expression, what: String) =
      throw StreamJoinErrors.unsupportedCondition(join.origin, e, what)
    def isOfOne(e: Expression) = join.children.exists(c => e.references.subsetOf(c.outputSet))
    join.condition.foreach {
      case s: SubqueryExpression => refused(s, "a subquery")
      case f: PythonFuncExpression if !isOfOne(f) =>
        refused(f, "a Python function of columns of both inputs")
      case e if !e.deterministic && e.children.forall(_.deterministic) =>
        refused(e, "an expression that is not deterministic")
      case _ =>
    }
  }

  private def checkWatermark(join: StreamJoin, side: Side): Unit =
    if (times(join, side).isEmpty) throw missingWatermark(join.origin, side, input(join, side))

  def missingWatermark(
      origin: Origin,
      side: Side,
      input: LogicalPlan
  ): StreamJoinAnalysisException = {
    val output = input.output
    StreamJoinErrors.missingWatermark(
      origin,
      side.name,
      output.map(JoinAnalysis.nameOf),
      output.flatMap(_.qualifier.lastOption).headOption.getOrElse(side.name),
      output.find(a => TimeUnit.of(a.dataType).exists(_ != TimeUnit.Number))
        .orElse(output.find(a => TimeUnit.of(a.dataType).nonEmpty))
        .fold("event_time")(_.name)
    )
  }

  private def checkBounded(join: StreamJoin, side: Side): Unit =
    if (!join.analysis.bounds.bounded(side)) {
      val help = suggestion(join, side)
      val rejected = join.analysis.conditionBounds.rejected
      def because(reason: RejectedBound.Reason) = rejected.find(_.reason == reason).map(_.conjunct)
      val or = because(RejectedBound.InsideOr).map(
        StreamJoinErrors.disjunctiveBound(join.origin, side.name, _, help)
      )
      val calendar = because(RejectedBound.CalendarInterval).map(c =>
        StreamJoinErrors.calendarInterval(join.origin, c.sql)
      )
      val varying = because(RejectedBound.NotConstant).map(
        StreamJoinErrors.nonConstantBound(join.origin, side.name, _, help)
      )
      throw calendar.orElse(or).orElse(varying).getOrElse(
        StreamJoinErrors.unboundedState(
          join.origin,
          side.name,
          join.condition,
          times(join, Side.Left).map(JoinAnalysis.nameOf),
          times(join, Side.Right).map(JoinAnalysis.nameOf),
          help
        )
      )
    }

  /** The inequality that would bound `side`: one of its times is at least one of the other's. */
  private def suggestion(join: StreamJoin, side: Side): String = {
    val pairs = for {
      a <- times(join, side)
      b <- times(join, side.other)
      unit <- TimeUnit.of(a.dataType) if TimeUnit.of(b.dataType).contains(unit)
    } yield {
      val distance = if (unit == TimeUnit.Number) "100"
      else if (unit == TimeUnit.Date) "INTERVAL '1' DAY"
      else "INTERVAL '1' HOUR"
      s"${JoinAnalysis.nameOf(a)} >= ${JoinAnalysis.nameOf(b)} - $distance"
    }
    pairs.headOption.getOrElse("a comparison of two event times of the same type")
  }
}
