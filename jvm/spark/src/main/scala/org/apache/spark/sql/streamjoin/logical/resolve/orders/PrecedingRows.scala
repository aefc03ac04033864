package org.apache.spark.sql.streamjoin.logical.resolve.orders

import org.apache.spark.sql.catalyst.expressions.{AliasHelper, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.{JoinNode, JoinWindows, StreamOrder}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime

/**
 * Detects an order by the time of a join with a window PRECEDING on one input. The order then emits
 * a row when its window is complete, together with all its matches.
 *
 * Source: the second query of SQLstream s-Server, "Streaming Joins", in which a trade waits for
 * orders up to its own time. The first query, with FOLLOWING, does not wait for a complete window.
 */
private[resolve] object PrecedingRows extends AliasHelper {

  /** Whether an order by `time` waits for complete windows. */
  def decide(time: Expression, plan: LogicalPlan): Boolean = plan match {
    case Project(list, child) => decide(replaceAlias(time, getAliasMap(list)), child)
    case j: JoinNode if j.rowtime.isEmpty =>
      j.getTagValue(JoinWindows.Placed).exists(_.precede) &&
      Rowtime.of(j).exists(_.semanticEquals(time))
    case p if StreamOrder.isKeptBy(p) => p.children.exists(decide(time, _))
    case _                            => false
  }
}
