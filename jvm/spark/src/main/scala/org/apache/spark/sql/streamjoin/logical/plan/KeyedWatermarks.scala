package org.apache.spark.sql.streamjoin.logical.plan

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.types.TimestampType

/** Spark's own watermarks as keyed ones, so that there is one way in which they are followed. */
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
        imposed = false,
        maxAhead = None,
        batchTime = None,
        w.mapChildren(of)
      )
    case j: JoinNode => j
    case other       => other.mapChildren(of)
  }
}
