package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.{logical => _, Inner}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinHelper._
import org.apache.spark.sql.streamjoin.logical.{
  ImposeOrder,
  JoinRefusals,
  StreamJoin,
  StreamJoinInput
}
import org.apache.spark.sql.types.TimestampType

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

  private def planJoin(j: StreamJoin): SparkPlan = {
    val (left, right) = (planInput(j.left), planInput(j.right))
    new StreamJoinExec(
      j.analysis.equiKeys.map(_.left),
      j.analysis.equiKeys.map(_.right),
      Inner,
      JoinConditionSplitPredicates(None, left, right),
      stateInfo = None,
      eventTimeWatermarkForLateEvents = None,
      eventTimeWatermarkForEviction = None,
      JoinStateWatermarkPredicates(),
      stateFormatVersion = 3,
      left,
      right,
      outputMode = None,
      StreamJoinSpec.of(
        j.analysis,
        j.output,
        batchTimeMs(j.batchTime),
        JoinExplanation.lines(j.analysis)
      )
    )
  }

  /** The optimizer may have put a projection on top of an input. */
  private def planInput(input: LogicalPlan): SparkPlan = planLater(input match {
    case i: StreamJoinInput => i
    case other              => StreamJoinInput.of(other)
  })

  private def batchTimeMs(time: Expression): Option[Long] = time match {
    case Literal(micros: Long, TimestampType) => Some(Math.floorDiv(micros, 1000L))
    case _                                    => None
  }
}
