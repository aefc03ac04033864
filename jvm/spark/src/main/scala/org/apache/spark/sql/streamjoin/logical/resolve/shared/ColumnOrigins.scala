package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{ColumnOrigin, TwinColumn}

/** From which columns of which sources the columns of a plan are, as far as the plan tells. */
private[streamjoin] final class ColumnOrigins(plan: LogicalPlan) {

  private lazy val leaves = InputSources.leaves(plan)

  private lazy val aliases: Seq[(LogicalPlan, Alias)] = plan.collect { case node =>
    node.expressions.flatMap(_.collect { case a: Alias => node -> a })
  }.flatten

  private lazy val computed: Map[ExprId, Expression] =
    aliases.map { case (_, a) => a.exprId -> a.child }.toMap

  private lazy val known: Map[ExprId, ColumnOrigin] = leaves.zipWithIndex.flatMap {
    case (leaf, i) =>
      leaf.output.map(a => a.exprId -> ColumnOrigin(i, a.name))
  }.toMap ++ constants

  /** Columns that read none: they are of the only source below. */
  private def constants: Map[ExprId, ColumnOrigin] = (for {
    (node, a) <- aliases if a.child.references.isEmpty
    leaf <- Some(InputSources.leaves(node)).collect { case Seq(leaf) => leaf }
  } yield a.exprId -> ColumnOrigin(leaves.indexWhere(_ eq leaf), a.name)).toMap

  /** The columns of sources that a column is computed from; empty: not known. */
  def of(column: Attribute): Set[ColumnOrigin] = of(column.exprId, Set.empty)

  private def of(id: ExprId, seen: Set[ExprId]): Set[ColumnOrigin] =
    if (seen(id)) Set.empty
    else
      known.get(id).toSet ++ computed.get(id).toSet.flatMap { (value: Expression) =>
        value.references.toSet.flatMap((a: Attribute) => of(a.exprId, seen + id))
      }

  /** The columns of the plan that share their name with another one. */
  def twins: Map[ExprId, TwinColumn] = {
    val named = plan.output.groupBy(_.name.toLowerCase(Locale.ROOT)).values.filter(_.length > 1)
    named.flatMap { same =>
      val from = same.map(of)
      same.indices.map { i =>
        same(i).exprId -> TwinColumn(from(i), from.take(i).count(_ == from(i)) + 1)
      }
    }.toMap
  }
}
