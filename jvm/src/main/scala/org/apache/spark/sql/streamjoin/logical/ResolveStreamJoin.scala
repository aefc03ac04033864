package org.apache.spark.sql.streamjoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * A join of two streams of which one has an imposed order becomes this project's join. An order
 * imposed on a table is dropped, as Spark drops watermarks in batch queries.
 */
object ResolveStreamJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case u: UnresolvedImposeOrder if u.childrenResolved && argumentsResolved(u) =>
      OrderImposer.impose(
        u.child,
        u.column,
        OrderImposer.lag(u.lag, "lag", u.column.last, u.origin),
        u.idleTimeout.map(OrderImposer.lag(_, "idle_timeout", u.column.last, u.origin)),
        conf.resolver,
        u.origin
      )
    case ImposeOrder(_, _, _, _, _, child) if child.resolved && !child.isStreaming => child
    case j: Join if isOurs(j) => StreamJoinBuilder.build(j)
  }

  private def argumentsResolved(u: UnresolvedImposeOrder): Boolean =
    u.lag.resolved && u.idleTimeout.forall(_.resolved)

  private def isOurs(j: Join): Boolean =
    j.resolved && j.condition.exists(!compareWithThemselves(_)) &&
      j.left.isStreaming && j.right.isStreaming && StreamJoin.typeOf(j.joinType).nonEmpty &&
      (TimeColumns.of(j.left).imposed || TimeColumns.of(j.right).imposed)

  /**
   * `df.join(df, df("k") === df("k"))` is first resolved with both sides of the comparison on the left
   * input; Spark mends that in a second step, for which the join must still be Spark's own.
   */
  private def compareWithThemselves(condition: Expression): Boolean = condition.exists {
    case EqualTo(a: Attribute, b: Attribute)       => a.exprId == b.exprId
    case EqualNullSafe(a: Attribute, b: Attribute) => a.exprId == b.exprId
    case _                                         => false
  }
}
