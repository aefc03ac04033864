package org.apache.spark.sql.streamjoin.physical.stateful.times

import java.util.UUID
import java.util.function.LongPredicate

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.catalyst.util.DateTimeUtils.microsToMillis
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streamjoin.spark.{EventTimeStatsAccum, EventTimeWatermarkExec}
import org.apache.spark.unsafe.types.CalendarInterval

import io.streamjoin.bounds.Saturated

/**
 * Physical operator of Spark's own watermark on a column that also has a watermark of this project.
 * It drives Spark's operators above, for example windows.
 *
 * It is a subclass because Spark searches the plan for the parent class. It differs in three points:
 *
 *  - A row without a time does not change the watermark. Spark reads such a time as 1970.
 *  - A time after `latest` does not advance the watermark.
 *  - With groups of rows, no time does. The operator above that knows the groups advances it.
 *
 * @param latest the latest accepted time; none: all times are accepted
 * @param grouped whether the rows are in groups
 */
class CappedWatermarkExec(
    nodeId: UUID,
    eventTime: Attribute,
    delay: CalendarInterval,
    child: SparkPlan,
    latest: Option[Long],
    grouped: Boolean
) extends EventTimeWatermarkExec(nodeId, eventTime, delay, child)
    with ReadsEventTimes {

  override def nodeName: String = "EventTimeWatermark"

  override def argString(maxFields: Int): String = {
    val micros = EventTimeWatermark.getDelayMs(delay) * MICROS_PER_MILLIS
    TimeUnit.Timestamp.movedInWords(s"latest ${eventTime.name}", -micros) + ", of Spark's operators"
  }

  override protected def time: Attribute = eventTime

  override protected def look: LongPredicate =
    new CappedWatermarkExec.Noted(
      eventTimeStats,
      if (grouped) Long.MinValue else latest.getOrElse(Long.MaxValue)
    )

  /** The operator for a batch in real-time mode: `latest` counts from the end of the batch. */
  private[physical] def duringBatch(durationMs: Long): CappedWatermarkExec =
    new CappedWatermarkExec(
      nodeId,
      eventTime,
      delay,
      child,
      latest.map(Saturated.add(_, durationMs * MICROS_PER_MILLIS)),
      grouped
    )

  /** Notes the time that a watermark of groups follows from: the watermark plus its lag. */
  private[physical] def advance(time: Long): Unit =
    if (grouped) eventTimeStats.add(microsToMillis(time))

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(latest, Boolean.box(grouped))

  override protected def withNewChildInternal(newChild: SparkPlan): CappedWatermarkExec =
    new CappedWatermarkExec(nodeId, eventTime, delay, newChild, latest, grouped)
}

private object CappedWatermarkExec {

  private final class Noted(stats: EventTimeStatsAccum, latest: Long)
      extends LongPredicate
      with Serializable {

    override def test(time: Long): Boolean = {
      if (time <= latest) stats.add(microsToMillis(time))
      true
    }
  }
}
