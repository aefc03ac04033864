package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.resolve.shared.InputSources

/** From which sources the columns of a query are, as far as its plan tells. */
private[evolve] final class ColumnSources(query: LogicalPlan, sources: SourceMap) {

  private val ofLeaves: Map[ExprId, Int] = InputSources.leaves(query).zipWithIndex.flatMap {
    case (leaf, i) => leaf.output.map(_.exprId -> i)
  }.toMap

  private val computed: Map[ExprId, Expression] = query.collect { case node =>
    node.expressions.flatMap(_.collect { case a: Alias => a.exprId -> a.child })
  }.flatten.toMap

  /** The place in the checkpoint of the only source of a column; none: not known. */
  def of(column: Attribute): Option[Int] = leavesOf(column.exprId, Set.empty).toSeq match {
    case Seq(leaf) => Some(sources.placeOf(leaf))
    case _         => None
  }

  private def leavesOf(id: ExprId, seen: Set[ExprId]): Set[Int] =
    if (seen(id)) Set.empty
    else
      ofLeaves.get(id).toSet ++ computed.get(id).toSet.flatMap { (value: Expression) =>
        value.references.toSet.flatMap((a: Attribute) => leavesOf(a.exprId, seen + id))
      }
}
