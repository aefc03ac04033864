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
 * @param latest the latest accepted time
 * @param grouped whether the rows are in groups
 */
class CappedWatermarkExec(
    nodeId: UUID,
    eventTime: Attribute,
    delay: CalendarInterval,
    child: SparkPlan,
    val latest: Long,
    val grouped: Boolean
) extends EventTimeWatermarkExec(nodeId, eventTime, delay, child)
    with ReadsEventTimes {

  override def nodeName: String = "EventTimeWatermark"

  override def argString(maxFields: Int): String = {
    val micros = EventTimeWatermark.getDelayMs(delay) * MICROS_PER_MILLIS
    TimeUnit.Timestamp.movedInWords(s"latest ${eventTime.name}", -micros) + ", of Spark's operators"
  }

  override protected def time: Attribute = eventTime

  override protected def look: LongPredicate =
    new CappedWatermarkExec.Noted(eventTimeStats, if (grouped) Long.MinValue else latest)

  /** The operator for a batch in real-time mode: `latest` counts from the end of the batch. */
  private[physical] def duringBatch(durationMs: Long): CappedWatermarkExec =
    new CappedWatermarkExec(
      nodeId,
      eventTime,
      delay,
      child,
      Saturated.add(latest, durationMs * MICROS_PER_MILLIS),
      grouped
    )

  /** Notes the time that a watermark of groups follows from: the watermark plus its lag. */
  private[physical] def advance(time: Long): Unit =
    if (grouped) eventTimeStats.add(microsToMillis(time))

  // a rule of Spark keeps a node if the new one is equal
  override def canEqual(other: Any): Boolean = other.isInstanceOf[CappedWatermarkExec]

  override def equals(other: Any): Boolean = other match {
    case w: CappedWatermarkExec => super.equals(w) && w.latest == latest && w.grouped == grouped
    case _                      => false
  }

  override def hashCode(): Int = super.hashCode()

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(Long.box(latest), Boolean.box(grouped))

  override protected def withNewChildInternal(newChild: SparkPlan): CappedWatermarkExec =
    new CappedWatermarkExec(nodeId, eventTime, delay, newChild, latest, grouped)
}

private[physical] object CappedWatermarkExec {

  /** Spark's operator with a limit and groups, or one that has these also from another order. */
  def of(spark: EventTimeWatermarkExec, latest: Long, grouped: Boolean): CappedWatermarkExec = {
    import spark._
    spark match {
      case w: CappedWatermarkExec =>
        val least = math.min(w.latest, latest)
        new CappedWatermarkExec(nodeId, eventTime, delay, child, least, w.grouped || grouped)
      case _ => new CappedWatermarkExec(nodeId, eventTime, delay, child, latest, grouped)
    }
  }

  private final class Noted(stats: EventTimeStatsAccum, latest: Long)
      extends LongPredicate
      with Serializable {

    override def test(time: Long): Boolean = {
      if (time <= latest) stats.add(microsToMillis(time))
      true
    }
  }
}
