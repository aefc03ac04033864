package org.apache.spark.sql.streamjoin.logical.plan.nodes

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.{CopiedColumn, PassesColumns}
import org.apache.spark.sql.streamjoin.logical.times.{
  BaseColumn,
  BatchTime,
  HasTimeColumns,
  MaxAhead,
  TimeColumns
}

/**
 * Logical node of a watermarked event-time column. The watermark is the largest value seen minus
 * `lag`; with groups of rows, the least of their watermarks. Rows pass through in no particular
 * order. Those too far ahead may be dropped.
 *
 * @param id identifies the node while the query runs
 * @param column the event-time column
 * @param lag in the unit of the column: microseconds, days, or the number itself
 * @param idleTimeoutMs the time without a row after which the input is idle, and does not delay the
 *   watermark of others
 * @param per the columns whose values divide the rows into groups
 * @param imposed whether the query declares it, rather than Spark's own watermark
 * @param maxAhead how far a value may be ahead of the batch; none: every value is accepted
 * @param batchTime the start of the batch, if there is a `maxAhead`
 */
case class ImposeOrder(
    id: UUID,
    column: Attribute,
    lag: Long,
    idleTimeoutMs: Option[Long],
    per: Seq[Attribute],
    imposed: Boolean,
    maxAhead: Option[MaxAhead],
    batchTime: Option[BatchTime],
    child: LogicalPlan
) extends PassesColumns
    with HasTimeColumns {

  override def timeColumns: TimeColumns = TimeColumns
    .of(child)
    .withBase(
      column,
      BaseColumn.Imposed(
        id,
        column.name,
        TimeUnit.of(column.dataType).get,
        lag,
        idleTimeoutMs,
        per.map(_.name),
        imposed,
        maxAhead,
        sparkDelay
      )
    )

  /** The least one: no watermark of Spark is nearer to the largest time. */
  private def sparkDelay: Option[Long] = CopiedColumn.find(child, column) {
    case (w: EventTimeWatermark, time) if w.eventTime.exprId == time.exprId =>
      EventTimeWatermark.getDelayMs(w.delay) * MICROS_PER_MILLIS
  }.minOption

  /** The latest value that the batch accepts, in the unit of the column. */
  def latest: Option[Long] =
    for (a <- maxAhead; now <- batchTime; unit <- TimeUnit.of(column.dataType))
      yield a.latest(unit, now)

  /** The watermark in words. */
  def words: String =
    TimeUnit.of(column.dataType).fold(column.name)(_.movedInWords(s"latest ${column.name}", -lag))

  override def argString(maxFields: Int): String = words

  override protected def withNewChildInternal(newChild: LogicalPlan): ImposeOrder =
    copy(child = newChild)
}
