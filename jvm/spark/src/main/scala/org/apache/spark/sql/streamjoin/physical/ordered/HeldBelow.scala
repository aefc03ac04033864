package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.spark.StateStoreWriter

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.watermark.WatermarkPlan

/**
 * The joins below an order whose rows reach it in the batch in which they come out: what they hold tells
 * how early a row can be that is still to come.
 *
 * Joins below another stateful operator are not among them, for that may hold rows of its own.
 */
private[ordered] final class HeldBelow private (joins: Seq[StreamJoinExec]) {

  def isEmpty: Boolean = joins.isEmpty

  /** Has them tell what they hold; to be asked for before they run. */
  def watch(): Unit = joins.foreach(_.watchHeld())

  /** How the time below which nothing can come any more follows, once all their tasks have run. */
  def remaining(watermark: WatermarkPlan): WatermarkPlan =
    WatermarkPlan.remaining(watermark, held)

  private def held(bounds: JoinBounds): Option[WatermarkPlan.Buffered] =
    joins.find(_.spec.bounds eq bounds).flatMap(_.earliestBuffered)
}

private[ordered] object HeldBelow {

  val nothing: HeldBelow = new HeldBelow(Nil)

  /** @param watermark how that of the time comes about */
  def of(input: SparkPlan, watermark: WatermarkPlan): HeldBelow = {
    // bounds are how a join is known; a plan may have one twice, and below another operator
    val known = all(input).map(_.spec.bounds)
    new HeldBelow(joins(input).filter { j =>
      known.count(_ eq j.spec.bounds) == 1 && WatermarkPlan.contains(watermark, j.spec.bounds)
    })
  }

  private def joins(plan: SparkPlan): Seq[StreamJoinExec] = plan match {
    case j: StreamJoinExec               => j +: j.children.flatMap(joins)
    case ReusedExchangeExec(_, original) => joins(original)
    case _: StateStoreWriter             => Nil
    case other                           => other.children.flatMap(joins)
  }

  private def all(plan: SparkPlan): Seq[StreamJoinExec] = plan match {
    case ReusedExchangeExec(_, original) => all(original)
    case other => other.children.flatMap(all) ++ Seq(other).collect { case j: StreamJoinExec => j }
  }
}
