package org.apache.spark.sql.streamjoin.physical.stateful.times

import java.util.UUID
import java.util.function.{Consumer, LongPredicate}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.util.DateTimeConstants.{MICROS_PER_MILLIS, MILLIS_PER_DAY}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.streamjoin.StreamJoinConf
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.CopiedColumn
import org.apache.spark.sql.streamjoin.physical.stateful.shown.Figure
import org.apache.spark.sql.streamjoin.spark.EventTimeStatsAccum

import io.streamjoin.bounds.Saturated
import io.streamjoin.model.Watermarks

/**
 * Physical operator of a watermarked event-time column. It records the largest accepted event time,
 * with groups that of each group, and may drop rows that are too far ahead.
 *
 * @param per the columns whose values divide the rows into groups
 * @param latest the latest accepted time
 * @param rejects whether the operator drops rows after `latest`
 */
case class ImposeOrderExec(
    orderId: UUID,
    column: Attribute,
    lag: Long,
    override protected val per: Seq[Attribute],
    latest: Long,
    rejects: Boolean,
    child: SparkPlan
) extends PassesRows
    with ReadsEventTimes {

  /** The operator for a batch in real-time mode: `latest` counts from the end of the batch. */
  private[physical] def duringBatch(durationMs: Long): ImposeOrderExec = {
    val duration =
      if (TimeUnit.of(column.dataType).contains(TimeUnit.Date))
        1 + Math.floorDiv(durationMs - 1, MILLIS_PER_DAY)
      else durationMs * MICROS_PER_MILLIS
    copy(latest = Saturated.add(latest, duration))
  }

  /** Lazy, because Spark copies a plan many times before it executes one copy. */
  private[physical] lazy val eventTimeStats: EventTimeStatsAccum = {
    val none = new EventTimeStatsAccum
    sparkContext.register(none)
    none
  }

  private lazy val maxima: GroupMaxima = {
    val none = new GroupMaxima(column.name, conf.getConf(StreamJoinConf.MaxWatermarkGroups))
    sparkContext.register(none)
    none
  }

  /**
   * The largest event time of each group in the batch; unknown for a group that the source lists, and
   * that has no row in the batch. Without groups, that of all rows.
   */
  private[physical] def arrived: Map[String, Long] = arrivedInTask()

  /**
   * The same so far, for a task of the same stage. A task has its own copy of the accumulators.
   */
  private[physical] def arrivedInTask: () => Map[String, Long] =
    if (per.nonEmpty) {
      val (groups, listed) = (maxima, ListedGroups.of(child, per))
      () => listed.map(_ -> Watermarks.Unknown).toMap ++ groups.value
    } else {
      val times = eventTimeStats
      () => Map("" -> times.value.max).filter(_._2 != Watermarks.Unknown)
    }

  private[physical] def isGrouped: Boolean = per.nonEmpty

  /** Spark's own watermarks on the column, which the operator controls. */
  private[physical] def sparks: Seq[CappedWatermarkExec] =
    CopiedColumn.find[SparkPlan, CappedWatermarkExec](child, column) {
      case (w: CappedWatermarkExec, time) if w.eventTime.exprId == time.exprId => w
    }

  override lazy val metrics: Map[String, SQLMetric] =
    Map(Figure.Ahead.name -> SQLMetrics.createMetric(sparkContext, Figure.Ahead.text))

  /** The number of rows of the batch after `latest`. */
  private[physical] def ahead: Long = longMetric(Figure.Ahead.name).value

  override def argString(maxFields: Int): String =
    TimeUnit.of(column.dataType).fold(column.name)(_.movedInWords(s"latest ${column.name}", -lag)) +
      (if (per.isEmpty) "" else s" per ${per.map(_.name).mkString(", ")}")

  override protected def time: Attribute = column

  override protected def look: LongPredicate = {
    val (ahead, keeps) = (longMetric(Figure.Ahead.name), !rejects)
    if (per.isEmpty) new ImposeOrderExec.OfColumn(eventTimeStats, ahead, latest, keeps)
    else {
      val name = new GroupName(per.map(_.dataType))
      new ImposeOrderExec.OfGroups(maxima, name, ahead, latest, keeps)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ImposeOrderExec =
    copy(child = newChild)
}

object ImposeOrderExec {

  private abstract class Noted(ahead: SQLMetric, latest: Long, keeps: Boolean)
      extends LongPredicate
      with Serializable {

    /** Notes an accepted time. */
    protected def note(time: Long): Unit

    override final def test(time: Long): Boolean =
      if (time <= latest) {
        note(time)
        true
      } else {
        ahead += 1
        keeps
      }
  }

  private final class OfColumn(
      stats: EventTimeStatsAccum,
      ahead: SQLMetric,
      latest: Long,
      keeps: Boolean
  ) extends Noted(ahead, latest, keeps) {

    override protected def note(time: Long): Unit = stats.add(time)
  }

  /** Notes the times of rows by group, in a task. */
  private final class OfGroups(
      maxima: GroupMaxima,
      name: GroupName,
      ahead: SQLMetric,
      latest: Long,
      keeps: Boolean
  ) extends Noted(ahead, latest, keeps)
      with Consumer[InternalRow] {

    @transient private lazy val known = new java.util.HashMap[InternalRow, GroupMaxima.Latest]

    /** The values of the group of the next time. */
    @transient private var values: InternalRow = _

    override def accept(values: InternalRow): Unit = this.values = values

    override protected def note(time: Long): Unit = {
      var group = known.get(values)
      if (group == null) {
        group = maxima.of(name(values))
        known.put(values.copy(), group)
      }
      group.note(time)
    }
  }
}
