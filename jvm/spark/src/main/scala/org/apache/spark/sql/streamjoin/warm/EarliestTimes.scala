package org.apache.spark.sql.streamjoin.warm

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Max
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic
import org.apache.spark.sql.streamjoin.conditions.{LinearTime, TimeUnit}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.StreamJoinInput
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ImposeOrder, StreamJoin, StreamOrder}

import io.streamjoin.bounds.{JoinBounds, Saturated}
import io.streamjoin.model.Side

/**
 * The rows of the history that can still have an effect, by their event time.
 *
 * A history of orders and deliveries ends at 14:00, and an order waits an hour for its delivery:
 *
 * {{{
 *   least watermark at the end                     13:59   (the lag is a minute)
 *   distances of the join, added up                 1:00   a delivery is buffered for 0:00
 *   rows that are read                             11:59   and later: twice the distance
 * }}}
 *
 * A row that is buffered at the end is within the distances of its join. Whether it has had a
 * partner depends on rows within the distances again. With joins below, each of them adds the
 * distances of all: `n` joins read the sum of all distances `n + 1` times.
 *
 * Everything is read if one join has no such distance, or if the query has another operator with
 * state.
 */
private[warm] final class EarliestTimes(plan: LogicalPlan, inputs: Seq[Input])
    extends AliasHelper {

  private val orders = plan.collect { case o: ImposeOrder => o }
  private val joins = plan.collect { case j: StreamJoin => j }

  /** For each input, the condition on the columns of its history; none: it is read as a whole. */
  def conditions: Map[Input, Expression] = {
    val found = for {
      reach <- reachOfAll.toSeq
      unit <- orders.map(o => TimeUnit.of(o.column.dataType)).distinct match {
        case Seq(Some(one)) => Seq(one)
        case _              => Nil
      }
      least <- leastWatermark.toSeq
      input <- inputs
      time <- timeOf(input)
      bound = Saturated.subtract(least, reach)
      if bound > LinearTime.range(time.dataType)._1
    } yield {
      val recent = GreaterThanOrEqual(time, Cast(unit.literal(bound), time.dataType))
      input -> Or(IsNull(time), recent)
    }
    found.toMap
  }

  /** The distance that an effect can have; none: it is not known. */
  private def reachOfAll: Option[Long] = {
    val each = joins.map(distances)
    Option.when(isKnown(plan) && joins.nonEmpty && each.forall(_.nonEmpty)) {
      Saturated.multiply(each.flatten.reduce(Saturated.add), joins.length + 1L)
    }
  }

  private def distances(join: StreamJoin): Option[Long] = {
    val bounds = join.analysis.bounds
    val each = Side.both.map { side =>
      val known = for {
        column <- bounds.watermarked(side)
        other <- bounds.governing(column) if bounds.columns(other).watermarked
      } yield math.abs(bounds.slack(column, other))
      known.maxOption
    }
    if (bounds.contradictory || bounds.mixesUnits || each.exists(_.isEmpty)) None
    else Some(each.flatten.reduce(Saturated.add)).filter(_ < JoinBounds.Unbounded)
  }

  private def isKnown(part: LogicalPlan): Boolean = inputs.exists(_.isReadBy(part)) ||
    (part match {
      case o: ImposeOrder => o.maxAhead.isEmpty && isKnown(o.child)
      case _: Project | _: Filter | _: SubqueryAlias | _: EventTimeWatermark | _: StreamJoin |
          _: StreamJoinInput | _: StreamOrder => part.children.forall(isKnown)
      case _ => false
    })

  /** The least watermark at the end of the history; none: an input has no row with a time. */
  private def leastWatermark: Option[Long] = {
    val each = orders.map(o => latest(o).map(Saturated.subtract(_, o.lag)))
    if (each.forall(_.nonEmpty)) each.flatten.minOption else None
  }

  /** The latest time of the group of rows that has the least one. */
  private def latest(order: ImposeOrder): Option[Long] = {
    val session = inputs.head.rows.sparkSession
    val max = Alias(Max(order.column).toAggregateExpression(), "latest")()
    val groups = Aggregate(order.per, Seq(max), ofHistory(order.child))
    val found = classic.Dataset.ofRows(session, groups).queryExecution.executedPlan.executeCollect()
    found.toSeq.map(_.get(0, order.column.dataType)).collect {
      case number: Number => number.longValue
    }.minOption
  }

  private def ofHistory(part: LogicalPlan): LogicalPlan =
    inputs.find(_.isReadBy(part)) match {
      case Some(input) => Input.inPlaceOf(part, input.rows)
      case None =>
        part match {
          case o: ImposeOrder        => ofHistory(o.child)
          case w: EventTimeWatermark => ofHistory(w.child)
          case other                 => other.mapChildren(ofHistory)
        }
    }

  /** The event time of an input, in the columns of its history. */
  private def timeOf(input: Input): Option[Expression] =
    orders.filter(_.child.exists(input.isReadBy)) match {
      case Seq(order) => below(order.child, order.column, input).filter(_.deterministic)
      case _          => None
    }

  private def below(part: LogicalPlan, time: Expression, input: Input): Option[Expression] =
    part match {
      case live if input.isReadBy(live) =>
        val names = AttributeMap(live.output.zip(input.rows.logicalPlan.output))
        Some(time.transform { case a: Attribute => names.getOrElse(a, a) })
      case p: Project =>
        below(p.child, replaceAlias(time, getAliasMap(p)), input)
      case _: Filter | _: SubqueryAlias | _: EventTimeWatermark =>
        below(part.children.head, time, input)
      case _ => None
    }
}
