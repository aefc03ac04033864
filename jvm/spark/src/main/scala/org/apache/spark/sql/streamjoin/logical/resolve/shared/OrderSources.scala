package org.apache.spark.sql.streamjoin.logical.resolve.shared

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.analysis.OrderSource
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ImposeOrder

/** Finds the sources below each imposed order of an input. */
private[streamjoin] object OrderSources {

  /** The orders from left to right, each behind those below it. So are their source columns. */
  def of(input: LogicalPlan): Seq[OrderSource] = of(input, 0)

  /** @param first the place of the first source of the part */
  private def of(part: LogicalPlan, first: Int): Seq[OrderSource] = {
    val places = ColumnOrigins.firsts(part, first)
    val below = part.children.zip(places).flatMap { case (child, at) => of(child, at) }
    part match {
      case o: ImposeOrder => below :+ OrderSource(o.id, (first until places.last).toSet)
      case _              => below
    }
  }
}
