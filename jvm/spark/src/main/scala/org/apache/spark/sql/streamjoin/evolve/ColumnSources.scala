package org.apache.spark.sql.streamjoin.evolve

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.resolve.shared.InputSources

/** From which sources the columns of a query are, as far as its plan tells. */
private[evolve] final class ColumnSources(query: LogicalPlan, sources: SourceMap) {

  private val leaves = InputSources.leaves(query)

  private val ofLeaves: Map[ExprId, Int] = leaves.zipWithIndex.flatMap { case (leaf, i) =>
    leaf.output.map(_.exprId -> i)
  }.toMap ++ constants

  private val computed: Map[ExprId, Expression] = query.collect { case node =>
    node.expressions.flatMap(_.collect { case a: Alias => a.exprId -> a.child })
  }.flatten.toMap

  /** Columns that read none: they are of the only source below. */
  private def constants: Map[ExprId, Int] = query.collect { case node =>
    for {
      found <- node.expressions
      a <- found.collect { case a: Alias if a.child.references.isEmpty => a }
      leaf <- Some(InputSources.leaves(node)).collect { case Seq(leaf) => leaf }
    } yield a.exprId -> leaves.indexWhere(_ eq leaf)
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
