package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.util.DateTimeUtils.microsToMillis
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Spark's own watermark of a column, which no time beyond `latest` moves: by it, windows above close.
 * A subclass, for Spark looks for that class.
 */
class BelievedWatermarkExec(
    nodeId: UUID,
    eventTime: Attribute,
    delay: CalendarInterval,
    child: SparkPlan,
    latest: Long
) extends EventTimeWatermarkExec(nodeId, eventTime, delay, child) {

  override protected def doExecute(): RDD[InternalRow] = {
    val (noted, last) = (eventTimeStats, latest)
    val ordinal = child.output.indexWhere(_.exprId == eventTime.exprId)
    child.execute().mapPartitionsInternal { rows =>
      rows.map { row =>
        if (!row.isNullAt(ordinal) && row.getLong(ordinal) <= last) {
          noted.add(microsToMillis(row.getLong(ordinal)))
        }
        row
      }
    }
  }

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(Long.box(latest))

  override protected def withNewChildInternal(newChild: SparkPlan): BelievedWatermarkExec =
    new BelievedWatermarkExec(nodeId, eventTime, delay, newChild, latest)
}
