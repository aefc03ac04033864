package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ImposeOrder, JoinNode}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime

/**
 * Refuses `withWatermark` above a watermarked event-time column, or a join of this project, if
 * Spark has a watermark below already. Spark supports one watermark on the path of a row, and
 * reports that in the first batch only.
 */
private[streamjoin] object CheckSecondWatermark extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit =
    if (SQLConf.get.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE)) plan.foreach {
      case w: EventTimeWatermark if w.child.isStreaming && hasOrder(w.child) =>
        val ordered = Rowtime.columns(w.child).map(ColumnNames.of)
        throw StreamJoinErrors.analysis(
          "SECOND_WATERMARK",
          w.origin,
          "column" -> w.eventTime.name,
          "columns" ->
            (if (ordered.isEmpty) "none that is selected here" else ordered.mkString(", "))
        )
      case _ =>
    }

  private def hasOrder(plan: LogicalPlan): Boolean =
    plan.exists(_.isInstanceOf[EventTimeWatermark]) && plan.exists {
      case o: ImposeOrder => o.imposed
      case j: JoinNode    => j.kind.byEventTime
      case _              => false
    }
}
