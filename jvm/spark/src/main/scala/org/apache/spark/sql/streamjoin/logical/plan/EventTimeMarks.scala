package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, UnaryNode}
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns
import org.apache.spark.sql.types.MetadataBuilder

/**
 * Logical node that marks these columns, and no others, as event times for Spark's operators. Rows
 * pass through unchanged.
 *
 * @param times the columns, as expressions, because Spark replaces the columns of a source in each
 *   batch
 * @param delays the delays of their watermarks in milliseconds, in the same order
 */
case class EventTimeMarks(times: Seq[Attribute], delays: Seq[Long], child: LogicalPlan)
    extends UnaryNode {

  override def output: Seq[Attribute] = EventTimeMarks.marked(child.output, times, delays)

  override protected def withNewChildInternal(newChild: LogicalPlan): EventTimeMarks =
    copy(child = newChild)
}

private[streamjoin] object EventTimeMarks {

  /** A plan with these columns as its event times. */
  def over(delays: Map[ExprId, Long], child: LogicalPlan): EventTimeMarks = {
    val times = child.output.filter(a => delays.contains(a.exprId))
    EventTimeMarks(times, times.map(a => delays(a.exprId)), child)
  }

  /** The columns that Spark treats as event times, with the delays of their watermarks. */
  def of(columns: Seq[Attribute]): Map[ExprId, Long] = columns.collect {
    case a if TimeColumns.isMarked(a) =>
      a.exprId -> a.metadata.getLong(EventTimeWatermark.delayKey)
  }.toMap

  /** A column without the mark. */
  def unmarked(a: Attribute): Attribute = marked(a, Map.empty)

  /** A computed column without the mark that it was given. */
  def unmarked(a: Alias): Alias =
    if (!a.explicitMetadata.exists(_.contains(EventTimeWatermark.delayKey))) a
    else {
      val others = new MetadataBuilder()
        .withMetadata(a.metadata)
        .remove(EventTimeWatermark.delayKey)
        .build()
      Alias(a.child, a.name)(a.exprId, a.qualifier, Some(others), a.nonInheritableMetadataKeys)
    }

  def marked(
      columns: Seq[Attribute],
      times: Seq[Attribute],
      delays: Seq[Long]
  ): Seq[Attribute] = {
    val known = times.map(_.exprId).zip(delays).toMap
    columns.map(marked(_, known))
  }

  def marked(a: Attribute, delays: Map[ExprId, Long]): Attribute = {
    val others = new MetadataBuilder().withMetadata(a.metadata)
    delays.get(a.exprId) match {
      case Some(delay) =>
        a.withMetadata(others.putLong(EventTimeWatermark.delayKey, delay).build())
      case None if TimeColumns.isMarked(a) =>
        a.withMetadata(others.remove(EventTimeWatermark.delayKey).build())
      case None => a
    }
  }
}
