package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, ExprId}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, UnaryNode}
import org.apache.spark.sql.types.MetadataBuilder

/**
 * Rows as they are, of which an operator of Spark's sees these columns as event times and no others.
 *
 * @param delays the columns, with the delays of their watermarks in milliseconds
 */
case class EventTimeMarks(delays: Map[ExprId, Long], child: LogicalPlan) extends UnaryNode {

  override def output: Seq[Attribute] = EventTimeMarks.marked(child.output, delays)

  /** They are needed, whoever asks for them. */
  override lazy val references: AttributeSet =
    AttributeSet(child.output.filter(a => delays.contains(a.exprId)))

  override protected def withNewChildInternal(newChild: LogicalPlan): EventTimeMarks =
    copy(child = newChild)
}

private[streamjoin] object EventTimeMarks {

  /** The columns that Spark takes for event times, with the delays of their watermarks. */
  def of(columns: Seq[Attribute]): Map[ExprId, Long] = columns.collect {
    case a if a.metadata.contains(EventTimeWatermark.delayKey) =>
      a.exprId -> a.metadata.getLong(EventTimeWatermark.delayKey)
  }.toMap

  /** What is computed, without the mark that it was given. */
  def unmarked(a: Alias): Alias =
    if (!a.explicitMetadata.exists(_.contains(EventTimeWatermark.delayKey))) a
    else {
      val others = new MetadataBuilder()
        .withMetadata(a.metadata)
        .remove(EventTimeWatermark.delayKey)
        .build()
      Alias(a.child, a.name)(a.exprId, a.qualifier, Some(others), a.nonInheritableMetadataKeys)
    }

  def marked(columns: Seq[Attribute], delays: Map[ExprId, Long]): Seq[Attribute] =
    columns.map { a =>
      val others = new MetadataBuilder().withMetadata(a.metadata)
      delays.get(a.exprId) match {
        case Some(delay) =>
          a.withMetadata(others.putLong(EventTimeWatermark.delayKey, delay).build())
        case None if a.metadata.contains(EventTimeWatermark.delayKey) =>
          a.withMetadata(others.remove(EventTimeWatermark.delayKey).build())
        case None => a
      }
    }
}
