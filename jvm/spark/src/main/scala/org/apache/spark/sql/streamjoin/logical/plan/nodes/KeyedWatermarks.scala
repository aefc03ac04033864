package org.apache.spark.sql.streamjoin.logical.plan.nodes

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.types.TimestampType

/**
 * Wraps Spark's own watermarks into [[ImposeOrder]], so that the rest of the code handles one kind
 * of watermark.
 */
private[streamjoin] object KeyedWatermarks {

  def of(plan: LogicalPlan): LogicalPlan = plan match {
    case o: ImposeOrder =>
      o.child match {
        case w: EventTimeWatermark if w.eventTime.exprId == o.column.exprId =>
          o.withNewChildren(Seq(w.mapChildren(of)))
        case _ => o.mapChildren(of)
      }
    case w @ EventTimeWatermark(_, column, delay, _) if column.dataType == TimestampType =>
      val lag = EventTimeWatermark.getDelayMs(delay) * MICROS_PER_MILLIS
      ImposeOrder(
        UUID.randomUUID(),
        column,
        lag,
        None,
        per = Nil,
        imposed = false,
        maxAhead = None,
        batchTime = None,
        w.mapChildren(of)
      )
    case j: JoinNode => j
    case other       => other.mapChildren(of)
  }
}
