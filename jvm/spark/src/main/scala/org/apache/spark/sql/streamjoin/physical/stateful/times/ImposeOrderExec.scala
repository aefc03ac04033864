package org.apache.spark.sql.streamjoin.physical.stateful.times

import java.util.UUID
import java.util.function.LongPredicate

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.physical.stateful.shown.Figure
import org.apache.spark.sql.streamjoin.spark.EventTimeStatsAccum

/**
 * Physical operator of a watermarked event-time column. It records the largest accepted event time,
 * and may drop rows that are too far ahead.
 *
 * @param latest the latest accepted time
 * @param rejects whether the operator drops rows after `latest`
 */
case class ImposeOrderExec(
    orderId: UUID,
    column: Attribute,
    lag: Long,
    latest: Long,
    rejects: Boolean,
    child: SparkPlan
) extends PassesRows
    with ReadsEventTimes {

  /** Lazy, because Spark copies a plan many times before it executes one copy. */
  private[physical] lazy val eventTimeStats: EventTimeStatsAccum = {
    val none = new EventTimeStatsAccum
    sparkContext.register(none)
    none
  }

  override lazy val metrics: Map[String, SQLMetric] =
    Map(Figure.Ahead.name -> SQLMetrics.createMetric(sparkContext, Figure.Ahead.text))

  /** The number of rows of the batch after `latest`. */
  private[physical] def ahead: Long = longMetric(Figure.Ahead.name).value

  override def argString(maxFields: Int): String =
    TimeUnit.of(column.dataType).fold(column.name)(_.movedInWords(s"latest ${column.name}", -lag))

  override protected def time: Attribute = column

  override protected def look: LongPredicate =
    new ImposeOrderExec.Noted(
      eventTimeStats,
      longMetric(Figure.Ahead.name),
      latest,
      keeps = !rejects
    )

  override protected def withNewChildInternal(newChild: SparkPlan): ImposeOrderExec =
    copy(child = newChild)
}

object ImposeOrderExec {

  private final class Noted(
      stats: EventTimeStatsAccum,
      ahead: SQLMetric,
      latest: Long,
      keeps: Boolean
  ) extends LongPredicate
      with Serializable {

    override def test(time: Long): Boolean =
      if (time <= latest) {
        stats.add(time)
        true
      } else {
        ahead += 1
        keeps
      }
  }
}
