package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.logical.{
  ImposeOrder,
  JoinRefusals,
  StreamJoin,
  StreamJoinInput
}

/** Plans this project's logical nodes. */
case class StreamJoinStrategy(session: SparkSession) extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case o: ImposeOrder     => Seq(ImposeOrderExec(o.id, o.column, o.lag, planLater(o.child)))
    case i: StreamJoinInput => Seq(StreamJoinInputExec(i.present, planLater(i.child)))
    case j: StreamJoin =>
      JoinRefusals.check(j)
      Seq(planJoin(j))
    case _ => Nil
  }

  private def planJoin(j: StreamJoin): SparkPlan =
    new StreamJoinExec(
      planInput(j.left),
      planInput(j.right),
      BatchInfo(),
      StreamJoinSpec.of(
        j.analysis,
        j.output,
        j.late.map(LateSpec(_, j.lateBelow, j.sharedKeys, SQLConf.get.sessionLocalTimeZone)),
        JoinExplanation.lines(j.analysis, j.late)
      )
    )

  /** The optimizer may have put a projection on top of an input. */
  private def planInput(input: LogicalPlan): SparkPlan = planLater(input match {
    case i: StreamJoinInput => i
    case other              => StreamJoinInput.of(other)
  })
}
