package org.apache.spark.sql.streamjoin.logical.resolve.orders

import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{ImposeOrder, UnresolvedImposeOrder}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.WarnAtAnalysis

/**
 * Analyzer rule that builds the node for `IMPOSE_ORDER`, or refuses it, when its input is resolved.
 * It removes the node from a table, as Spark removes watermarks from batch queries.
 */
object ResolveOrders extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case u: UnresolvedImposeOrder if u.childrenResolved && u.expressions.forall(_.resolved) =>
          OrderImposer.impose(u, conf.resolver)
        case o: ImposeOrder if o.child.resolved && !o.child.isStreaming =>
          o.child.setTagValue(WarnAtAnalysis.OrderOfTable, o.column.name)
          o.child
      }
    }
}
