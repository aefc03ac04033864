package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.{OrderScope, StreamOrder, ZonedPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.WatermarkWords

import io.streamjoin.watermark.WatermarkPlan

/**
 * What the tasks of an order need to know.
 *
 * @param order the time first, ascending; then what rows of one time are sorted by
 * @param column what the metrics call the time
 * @param scope how far the order reaches
 * @param byHeld whether rows come out as soon as joins below hold nothing before them
 * @param bases where the watermarks start, in the order in which they are stored
 * @param watermark how that of the time comes about
 * @param zoned what of the time depends on the time zone of the session
 * @param sources identities of the sources of the rows
 * @param summary what rows are ordered by, in a few words
 * @param explained the order, in words
 */
private[physical] final case class OrderSpec(
    order: Seq[SortOrder],
    column: String,
    scope: OrderScope,
    byHeld: Boolean,
    bases: Seq[BaseColumn],
    watermark: WatermarkPlan,
    zoned: Seq[ZonedPart],
    sources: Seq[String],
    summary: String,
    explained: Seq[String]
) {

  def time: Expression = order.head.child

  /** Whether rows of one time are sorted further. */
  def tied: Boolean = order.length > 1

  def unit: TimeUnit = TimeUnit.of(time.dataType).get
}

private[physical] object OrderSpec {

  def of(o: StreamOrder): OrderSpec = o.watermark match {
    case (bases, Some(watermark)) =>
      val byHeld = watermark.isOfJoin && o.scope != OrderScope.EachPartition && !o.whole
      val words = explained(o, bases, byHeld)
      OrderSpec(
        o.order,
        o.column,
        o.scope,
        byHeld,
        bases,
        watermark,
        o.zoned,
        o.sources,
        summary(o),
        words
      )
    case _ =>
      throw new IllegalStateException(s"the watermark of ${o.name} was lost by the optimizer")
  }

  private def reached(scope: OrderScope): Option[String] = scope match {
    case OrderScope.Query         => None
    case OrderScope.OnePartition  => Some("all rows of a batch come out in one partition")
    case OrderScope.EachPartition => Some("the order is that of each partition")
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
    val called = if (o.time.isInstanceOf[Attribute]) o.name else o.column
    val order = if (called == o.name) called else s"$called, ${o.name}"
    val sooner =
      if (byHeld) ", or sooner if the joins below hold nothing before it" else ""
    bases.distinct.map(b => WatermarkWords.of(b, b.name)) ++ Seq(
      s"order: $order; $further",
      s"each row is held back until the watermark of $called has $passed it$sooner; rows below it " +
        "are late and dropped"
    ) ++ reached(o.scope)
  }
}
