package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.catalyst.util.DateTimeUtils.microsToMillis
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Spark's own watermark of a column that has an order, told as people say it; by it, windows above close.
 * A subclass, for Spark looks for that class.
 *
 * @param latest the latest time that is believed: none beyond it moves the watermark
 */
class BelievedWatermarkExec(
    nodeId: UUID,
    eventTime: Attribute,
    delay: CalendarInterval,
    child: SparkPlan,
    latest: Option[Long]
) extends EventTimeWatermarkExec(nodeId, eventTime, delay, child) {

  override def nodeName: String = "EventTimeWatermark"

  override def argString(maxFields: Int): String = {
    val micros = EventTimeWatermark.getDelayMs(delay) * MICROS_PER_MILLIS
    TimeUnit.Timestamp.movedInWords(s"latest ${eventTime.name}", -micros) + ", of Spark's operators"
  }

  override protected def doExecute(): RDD[InternalRow] =
    latest.fold(super.doExecute())(noted)

  private def noted(last: Long): RDD[InternalRow] = {
    val stats = eventTimeStats
    val ordinal = child.output.indexWhere(_.exprId == eventTime.exprId)
    child.execute().mapPartitionsInternal { rows =>
      rows.map { row =>
        if (!row.isNullAt(ordinal) && row.getLong(ordinal) <= last) {
          stats.add(microsToMillis(row.getLong(ordinal)))
        }
        row
      }
    }
  }

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(latest)

  override protected def withNewChildInternal(newChild: SparkPlan): BelievedWatermarkExec =
    new BelievedWatermarkExec(nodeId, eventTime, delay, newChild, latest)
}
