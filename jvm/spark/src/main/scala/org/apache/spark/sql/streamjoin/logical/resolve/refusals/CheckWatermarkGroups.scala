package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ImposeOrder, JoinNode, StreamOrder}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

/**
 * Refuses a watermark of groups that no operator of this project above it uses, in each place in
 * which the query reads it. Only the state of such an operator has the groups. Spark's own watermark
 * on the column would not advance.
 */
private[streamjoin] object CheckWatermarkGroups extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan match {
    case w: WriteToStream => check(w.inputQuery, Set.empty)
    case _                =>
  }

  /** @param above the source columns that operators above use */
  private def check(plan: LogicalPlan, above: Set[BaseColumn]): Unit = {
    val used = plan match {
      case j: JoinNode    => above ++ j.analysis.bases
      case o: StreamOrder => above ++ o.watermark._1
      case o: ImposeOrder if o.per.nonEmpty && o.isStreaming && !above.exists(isOf(o)) =>
        throw StreamJoinErrors.analysis(
          "UNUSED_WATERMARK_GROUPS",
          o.origin,
          "column" -> o.column.name,
          "per" -> o.per.map(ColumnNames.of).mkString(", ")
        )
      case _ => above
    }
    plan.children.foreach(check(_, used))
  }

  private def isOf(order: ImposeOrder)(base: BaseColumn): Boolean = base match {
    case b: BaseColumn.Imposed => b.id == order.id
    case _                     => false
  }
}
