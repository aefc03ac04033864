package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  AsOfJoin,
  ChangelogJoin,
  ImposeOrder,
  InOrder,
  JoinNode,
  SplitKeyUpdates,
  StreamJoin,
  StreamOrder,
  ToUpserts
}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.JoinRefusals
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.logical.plan.EventTimeMarks
import org.apache.spark.sql.streamjoin.physical.asof.{AsOfJoinExec, AsOfSpec}
import org.apache.spark.sql.streamjoin.physical.changelog.{
  AboveChanges,
  PlanChangelogJoin,
  PlanConsolidate,
  PlanKeyUpdates
}
import org.apache.spark.sql.streamjoin.physical.eventtime.{JoinExplanation, StreamJoinExec}
import org.apache.spark.sql.streamjoin.physical.ordered.{InOrderExec, OrderSpec, StreamOrderExec}
import org.apache.spark.sql.streamjoin.physical.stateful.operator.BatchInfo
import org.apache.spark.sql.streamjoin.physical.stateful.times.{
  EventTimeMarksExec,
  ImposeOrderExec,
  StreamJoinInputExec
}
import org.apache.spark.sql.streamjoin.physical.timed.{JoinOutput, LateSpec, TimedJoinSpec}

/** Planner strategy for this project's logical nodes. */
case class StreamJoinStrategy(session: SparkSession) extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case o: ImposeOrder => Seq(planOrder(o))
    case o: StreamOrder =>
      Seq(new StreamOrderExec(planInput(o.child), BatchInfo(), OrderSpec.of(o)))
    case o: InOrder => Seq(InOrderExec(o.claimed, planLater(o.child)))
    case m: EventTimeMarks =>
      Seq(EventTimeMarksExec(m.times, m.delays, planLater(m.child)))
    case i: StreamJoinInput =>
      // equal inputs have one exchange, whatever columns the optimizer has pruned
      val columns = i.columns.filter(_.child.references.subsetOf(i.child.outputSet))
      Seq(StreamJoinInputExec(columns, i.sources, i.orders, planLater(i.child)))
    case Project(list, j: StreamJoin) => Seq(ProjectExec(list, planJoin(j, required(list, j))))
    case Project(list, Filter(condition, j: StreamJoin)) =>
      Seq(ProjectExec(list, FilterExec(condition, planJoin(j, named(list :+ condition, j)))))
    case j: StreamJoin                    => Seq(planJoin(j, j.output))
    case AboveChanges(list, condition, j) => Seq(planChanges(j, list, condition))
    case j: AsOfJoin =>
      val spec = AsOfSpec.of(j, lateOf(j))
      Seq(new AsOfJoinExec(planInput(j.left), planInput(j.right), BatchInfo(), spec))
    case s: SplitKeyUpdates => Seq(PlanKeyUpdates(s, planLater))
    case u: ToUpserts       => Seq(PlanConsolidate.latest(u, planLater(u.child)))
    case _                  => Nil
  }

  /**
   * @param asked the projection above the join
   * @param condition the filter above the join
   */
  private def planChanges(
      j: ChangelogJoin,
      asked: Seq[NamedExpression],
      condition: Expression
  ): SparkPlan = {
    val (wanted, rest) = PlanChangelogJoin.filter(j, condition)
    val others = rest.filter(_ != Literal.TrueLiteral)
    val columns = AttributeSet.fromAttributeSets((asked ++ others).map(_.references))
    PlanConsolidate(j, PlanChangelogJoin(j, columns, planInput, wanted), asked, others)
  }

  private def planOrder(o: ImposeOrder): SparkPlan = {
    val latest = o.latest.getOrElse(Long.MaxValue)
    val rejects = o.maxAhead.exists(_.rejects)
    ImposeOrderExec(o.id, o.column, o.lag, o.per, latest, rejects, planLater(o.child))
  }

  /**
   * If the projection only selects columns, the join emits them in that order, and the projection
   * does nothing.
   */
  private def required(list: Seq[NamedExpression], j: StreamJoin): Seq[Attribute] = {
    val columns = list.collect { case a: Attribute => a }
    if (columns.length == list.length && AttributeSet(columns).size == list.length) columns
    else named(list, j)
  }

  private def named(expressions: Seq[Expression], j: StreamJoin): Seq[Attribute] =
    j.output.filter(AttributeSet.fromAttributeSets(expressions.map(_.references)).contains)

  private def planJoin(j: StreamJoin, required: Seq[Attribute]): SparkPlan = {
    JoinRefusals.of(j).foreach(refusal => throw refusal.error)
    new StreamJoinExec(
      planInput(j.left),
      planInput(j.right),
      BatchInfo(),
      TimedJoinSpec.of(
        j.analysis,
        JoinOutput(j.output, required, lateOf(j)),
        JoinExplanation.of(j.analysis, j.late.map(_.column)),
        SQLConf.get.getConf(StreamJoinConf.TimeBuckets)
      )
    )
  }

  private def lateOf(j: JoinNode): Option[LateSpec] =
    j.late.map(LateSpec(_, SQLConf.get.sessionLocalTimeZone))

  private def planInput(input: LogicalPlan): SparkPlan = planLater(StreamJoinInput.onTop(input))
}
