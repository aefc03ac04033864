package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.streamjoin.logical.plan.{ImposeOrder, JoinKind}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.JoinRefusals
import org.apache.spark.sql.streamjoin.logical.times.SparksJoin

import io.streamjoin.model.Side

/**
 * Refuses joins of Spark's with unbounded state in a query with a watermarked event-time column.
 *
 * The analyzer rules replace all of them. This check of the plan guards against a case that they
 * miss.
 */
private[streamjoin] object UnboundedJoins {

  /** Refuses to plan such a join above or below a watermarked event-time column. */
  def check(plan: LogicalPlan): Unit = plan match {
    case SparksJoin(j) if JoinKind.isImposed(j) => refuse(j)
    case o: ImposeOrder if o.imposed            => o.child.foreach(refuse)
    case _                                      =>
  }

  private def refuse(plan: LogicalPlan): Unit = plan match {
    case SparksJoin(j) if !SparksJoin.isBounded(j) => throw error(j)
    case _                                         =>
  }

  private def error(j: Join) = StreamJoinBuilder
    .build(j, retained = false)
    .fold(_.error, ours => JoinRefusals.unbounded(ours, Side.both))
}
