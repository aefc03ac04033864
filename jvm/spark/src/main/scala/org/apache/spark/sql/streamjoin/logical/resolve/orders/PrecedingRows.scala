package org.apache.spark.sql.streamjoin.logical.resolve.orders

import org.apache.spark.sql.catalyst.expressions.{AliasHelper, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.{JoinNode, JoinWindows, StreamOrder}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime

/**
 * Rows of a join with a window PRECEDING on one input, in the order of the other one's time: such a row
 * comes out when its window is full, with all that it meets, and not before.
 *
 * Source: the second query of SQLstream s-Server, "Streaming Joins", whose trade waits for orders up to
 * its own time although nothing before it can come. Its first query, FOLLOWING, waits for no full window.
 */
private[resolve] object PrecedingRows extends AliasHelper {

  /** Whether that is what decides of an order by `time`. */
  def decide(time: Expression, plan: LogicalPlan): Boolean = plan match {
    case Project(list, child) => decide(replaceAlias(time, getAliasMap(list)), child)
    case j: JoinNode if j.rowtime.isEmpty =>
      j.getTagValue(JoinWindows.Placed).exists(_.precede) &&
      Rowtime.of(j).exists(_.semanticEquals(time))
    case p if StreamOrder.isKeptBy(p) => p.children.exists(decide(time, _))
    case _                            => false
  }
}
