package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedZone,
  FormatNumber,
  StateFormat,
  StoredTimes
}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ZonedPart
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{OrderScope, StreamOrder}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{Explanation, WatermarkWords}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

import io.streamjoin.watermark.WatermarkPlan

/**
 * Specification of an ordered output for its tasks.
 *
 * @param order the event time, ascending; then the tie-breakers
 * @param scope the rows among which the order holds
 * @param byHeld whether rows may be emitted before the watermark passes them, if the joins below
 *   buffer no earlier row
 * @param bases the source columns of the watermarks, in the order in which they are stored
 * @param watermark the plan of the watermark of the event time
 * @param zoned the parts of the event time that depend on the session time zone
 */
private[physical] final case class OrderSpec(
    order: Seq[SortOrder],
    scope: OrderScope,
    byHeld: Boolean,
    bases: Seq[BaseColumn],
    watermark: WatermarkPlan,
    zoned: Seq[ZonedPart],
    explanation: Explanation
) {

  def time: Expression = order.head.child

  /** The name of the event time in metrics. */
  def column: String = StreamOrder.column(time)

  /** Whether rows with equal times have a tie-breaker. */
  def tied: Boolean = order.length > 1

  def unit: TimeUnit = TimeUnit.of(time.dataType).get

  /**
   * The description that is stored beside the state, in JSON: the event time and the sources of its
   * watermark. It omits the tie-breakers, because a query may change them.
   */
  def description(format: StateFormat): String = {
    val zone = DescribedZone.of(Seq(time), Set.empty, zoned.map(part => part.sql -> part.zones))
    compact(
      render(
        ("format" -> format.name) ~
          ("version" -> FormatNumber.Current) ~
          ("order" -> s"${StoredTimes.sql(time)}: ${time.dataType.sql}") ~
          ("sources" -> bases.map(_.name)) ~
          ("zone" -> zone.map(_.json))
      )
    )
  }
}

private[physical] object OrderSpec {

  def of(o: StreamOrder): OrderSpec = o.watermark match {
    case (bases, Some(watermark)) =>
      val byHeld = watermark.isOfJoin && o.scope != OrderScope.EachPartition && !o.whole
      OrderSpec(
        o.order,
        o.scope,
        byHeld,
        bases,
        watermark,
        o.zoned,
        Explanation(summary(o), explained(o, bases, byHeld))
      )
    case _ =>
      throw new IllegalStateException(s"the watermark of ${o.name} was lost by the optimizer")
  }

  private def reached(scope: OrderScope): Option[String] = scope match {
    case OrderScope.Query         => None
    case OrderScope.OnePartition  => Some("all rows of a batch are emitted in one partition")
    case OrderScope.EachPartition => Some("the order holds within each partition")
  }

  private def summary(o: StreamOrder): String =
    (o.name +: o.claimed.words.drop(1)).mkString(", ") +
      (if (o.scope == OrderScope.EachPartition) "; in each partition" else "")

  private def explained(
      o: StreamOrder,
      bases: Seq[BaseColumn],
      byHeld: Boolean
  ): Seq[String] = {
    val further =
      if (o.order.length == 1) "rows of one time by their bytes"
      else s"rows of one time by ${o.order.tail.map(k => ColumnNames.sql(k)).mkString(", ")}"
    val passed = if (o.order.length == 1) "reached" else "passed"
    val called = if (o.time.isInstanceOf[Attribute]) o.name else StreamOrder.column(o.time)
    val order = if (called == o.name) called else s"$called, ${o.name}"
    val sooner =
      if (byHeld) ", or sooner if the joins below buffer no earlier row" else ""
    bases.distinct.map(b => WatermarkWords.of(b, b.name)) ++ Seq(
      s"order: $order; $further",
      s"each row is buffered until the watermark of $called has $passed it$sooner; rows below it " +
        "are late and dropped"
    ) ++ reached(o.scope)
  }
}
