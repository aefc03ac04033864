package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ImposeOrder, JoinNode, StreamOrder}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

/**
 * Refuses a watermark of groups that no operator of this project above it uses. Only the state of
 * such an operator has the groups. Spark's own watermark on the column would not advance.
 */
private[streamjoin] object CheckWatermarkGroups extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan match {
    case w: WriteToStream =>
      lazy val used = w.inputQuery
        .collect {
          case j: JoinNode    => j.analysis.bases
          case o: StreamOrder => o.watermark._1
        }
        .flatten
        .collect { case b: BaseColumn.Imposed => b.id }
        .toSet
      w.inputQuery.foreach {
        case o: ImposeOrder if o.per.nonEmpty && o.isStreaming && !used(o.id) =>
          throw StreamJoinErrors.analysis(
            "UNUSED_WATERMARK_GROUPS",
            o.origin,
            "column" -> o.column.name,
            "per" -> o.per.map(ColumnNames.of).mkString(", ")
          )
        case _ =>
      }
    case _ =>
  }
}
