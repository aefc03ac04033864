package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.streamjoin.physical.eventtime.StreamJoinExec
import org.apache.spark.sql.streamjoin.spark.StateStoreWriter

import io.streamjoin.watermark.WatermarkPlan

/**
 * The joins below an ordered output whose rows reach it in the same batch. Their buffered rows
 * determine how early a row that is still to come can be.
 *
 * Joins below another stateful operator do not count, since that operator may buffer their rows.
 */
private[ordered] final class BufferedBelow private (joins: Seq[StreamJoinExec]) {

  def isEmpty: Boolean = joins.isEmpty

  /**
   * Makes the joins report the earliest times of their buffered rows. Must be called before they
   * run.
   */
  def watch(): Unit = joins.foreach(_.watchHeld())

  /**
   * The plan of the time below which no row can follow. Requires that all tasks of the joins have
   * run.
   */
  def remaining(watermark: WatermarkPlan): WatermarkPlan =
    WatermarkPlan.remaining(watermark, id => joins.find(_.joinId == id).flatMap(_.earliestBuffered))
}

private[ordered] object BufferedBelow {

  val nothing: BufferedBelow = new BufferedBelow(Nil)

  /** @param watermark the plan of the watermark of the event time */
  def of(input: SparkPlan, watermark: WatermarkPlan): BufferedBelow = {
    // a plan may contain a join twice, once below another stateful operator
    val known = all(input).map(_.joinId)
    new BufferedBelow(joins(input).filter { j =>
      known.count(_ == j.joinId) == 1 && WatermarkPlan.contains(watermark, j.joinId)
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
