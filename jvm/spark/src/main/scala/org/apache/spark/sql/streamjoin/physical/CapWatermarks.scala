package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.streamjoin.logical.plan.CopiedColumn
import org.apache.spark.sql.streamjoin.physical.stateful.times.{
  CappedWatermarkExec,
  ImposeOrderExec
}
import org.apache.spark.sql.streamjoin.spark.EventTimeWatermarkExec

/**
 * Columnar rule that lets Spark's own watermark of a column follow the order imposed on the column:
 * its groups, and its limit for rows that are too far ahead. Any operators that copy the column may
 * be in between, such as a rename or a join with a table.
 */
object CapWatermarks extends ColumnarRule {

  override def preColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) =>
    plan.transformUp { case o: ImposeOrderExec =>
      o.withNewChildren(Seq(capped(o.child, o.column, o)))
    }

  private def capped(plan: SparkPlan, column: Attribute, order: ImposeOrderExec): SparkPlan =
    plan match {
      case w: EventTimeWatermarkExec if w.eventTime.exprId == column.exprId =>
        CappedWatermarkExec.of(w, order.latest, order.isGrouped)
      case other =>
        val from = CopiedColumn.ofChildren(other, column)
        other.withNewChildren(other.children.zip(from).map { case (child, copied) =>
          copied.fold(child)(capped(child, _, order))
        })
    }
}
