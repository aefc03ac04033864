package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.streamjoin.logical.plan.{ImposeOrder, JoinKind}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.UnboundedJoin
import org.apache.spark.sql.streamjoin.logical.times.SparksJoin

import io.streamjoin.model.Side

/**
 * Joins of Spark's that keep rows for ever, in a query in which an order says that none is wanted.
 *
 * The rules leave none behind; this looks at what is planned, whatever they have overlooked.
 */
private[streamjoin] object UnboundedJoins {

  /** Refuses to plan a node that is such a join above an order, or that imposes one above such a join. */
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
    .fold(_.error, ours => UnboundedJoin.error(ours, Side.both))
}
