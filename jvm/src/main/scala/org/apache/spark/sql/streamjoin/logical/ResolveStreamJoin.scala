package org.apache.spark.sql.streamjoin.logical

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike}
import org.apache.spark.sql.catalyst.plans.logical.{
  AnalysisHelper,
  CTERelationRef,
  Filter,
  Join,
  LogicalPlan,
  WithCTE
}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * A join of two streams of which one has an imposed order becomes this project's join. An order
 * imposed on a table is dropped, as Spark drops watermarks in batch queries.
 *
 * Common table expressions with an order are put in their places first, where a join can see them.
 *
 * Looks into plans that have been analysed before, for a join may have had to wait there: see
 * [[isUnfinished]].
 */
object ResolveStreamJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case u: UnresolvedImposeOrder if u.childrenResolved && argumentsResolved(u) => impose(u)
        case w: WithCTE if w.resolved && w.isStreaming && w.exists(_.isInstanceOf[ImposeOrder]) =>
          InlineCTE(alwaysInline = true)(w)
        case o: ImposeOrder if o.child.resolved && !o.child.isStreaming => o.child
        case f @ Filter(condition, j: Join)
            if f.resolved && isCrossJoin(j) && ofOrderedStreams(j) =>
          StreamJoinBuilder.build(j.copy(joinType = Inner, condition = Some(condition)))
        case j: Join if isOurs(j) && !((j eq plan) && isUnfinished(j)) => StreamJoinBuilder.build(j)
      }
    }

  private def impose(u: UnresolvedImposeOrder): LogicalPlan = {
    def argument(e: Expression, name: String) = OrderImposer.lag(e, name, u.column.last, u.origin)
    OrderImposer.impose(
      u.child,
      u.column,
      argument(u.lag, "lag"),
      u.idleTimeout.map(argument(_, "idle_timeout")),
      conf.resolver,
      u.origin
    )
  }

  private def argumentsResolved(u: UnresolvedImposeOrder): Boolean =
    u.lag.resolved && u.idleTimeout.forall(_.resolved)

  /** `FROM a, b WHERE ...`: the condition stands above the join. */
  private def isCrossJoin(j: Join): Boolean =
    j.joinType.isInstanceOf[InnerLike] && j.condition.isEmpty

  private def isOurs(j: Join): Boolean =
    j.resolved && j.condition.nonEmpty && ofOrderedStreams(j)

  /** Two streams of which one has an imposed order, as far as can be seen. */
  private def ofOrderedStreams(j: Join): Boolean =
    !j.exists(_.isInstanceOf[CTERelationRef]) && j.left.isStreaming && j.right.isStreaming &&
      StreamJoin.typeOf(j.joinType).nonEmpty &&
      (TimeColumns.of(j.left).imposed || TimeColumns.of(j.right).imposed)

  /**
   * `df.join(df, ...)` of a DataFrame with itself is resolved in two steps, and in between Spark wants
   * to see a join of its own at the top. It becomes ours with whatever is put on top of it.
   */
  private def isUnfinished(j: Join): Boolean =
    j.left.collectLeaves().exists(l => j.right.collectLeaves().exists(l.sameResult(_)))
}
