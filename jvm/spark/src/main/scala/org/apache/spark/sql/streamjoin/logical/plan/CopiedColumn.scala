package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.Union
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.streamjoin.logical.times.SameColumn

/**
 * Follows a column downwards through the nodes that copy it, perhaps with another name, in logical
 * and in physical plans.
 *
 * {{{
 *   Project [t AS ot]     ot   copied from t
 *     Filter              t
 *       Join with a table t    of one child
 *         Union           t    of each child
 * }}}
 */
private[streamjoin] object CopiedColumn {

  /** For each child of a node, its column from which the column of the node is copied. */
  def ofChildren[P <: QueryPlan[P]](plan: P, column: Attribute): Seq[Option[Attribute]] =
    plan match {
      case _: Union | _: UnionExec =>
        val i = plan.output.indexWhere(_.exprId == column.exprId)
        plan.children.map(_.output.lift(i))
      case _ =>
        val copied = plan.expressions.collectFirst {
          case alias @ Alias(SameColumn(of), _) if alias.exprId == column.exprId => of
        }.getOrElse(column)
        plan.children.map(child => Option.when(child.outputSet.contains(copied))(copied))
    }

  /**
   * The nodes below, nearest first on each path, that a function picks.
   *
   * @param pick a value for a node and its column
   */
  def find[P <: QueryPlan[P], A](plan: P, column: Attribute)(
      pick: PartialFunction[(P, Attribute), A]
  ): Seq[A] = pick.lift((plan, column)).fold(
    plan.children.zip(ofChildren(plan, column)).flatMap { case (child, from) =>
      from.toSeq.flatMap(find[P, A](child, _)(pick))
    }
  )(Seq(_))
}
