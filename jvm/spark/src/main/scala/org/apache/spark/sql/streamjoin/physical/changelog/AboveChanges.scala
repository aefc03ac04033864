package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{
  AliasHelper,
  And,
  Expression,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

/**
 * Extractor of the projections and filters above a changelog join, merged into one of each: changes
 * are consolidated by the output columns of the last one. Spark's optimizer leaves several of them
 * if one uses an expensive column of another twice, and if its rules are switched off.
 */
private[physical] object AboveChanges extends AliasHelper {

  /**
   * The output columns and the condition, both as expressions of columns of the join; and the join.
   */
  def unapply(plan: LogicalPlan): Option[(Seq[NamedExpression], Expression, ChangelogJoin)] =
    plan match {
      case j: ChangelogJoin => Some((j.output, Literal.TrueLiteral, j))
      case Project(list, child) => steady(child).map { case (below, condition, j) =>
          val aliases = getAliasMap(below)
          (list.map(replaceAliasButKeepName(_, aliases)), condition, j)
        }
      case Filter(condition, child) => unapply(child).collect {
          case (below, others, j) if others.deterministic && isSteady(condition, below) =>
            val own = replaceAlias(condition, getAliasMap(below))
            (below, if (others == Literal.TrueLiteral) own else And(others, own), j)
        }
      case _ => None
    }

  /** Only deterministic expressions are merged: any other must be evaluated once. */
  private def steady(plan: LogicalPlan) =
    unapply(plan).filter { case (list, condition, _) =>
      condition.deterministic && list.forall(_.deterministic)
    }

  private def isSteady(condition: Expression, below: Seq[NamedExpression]): Boolean =
    replaceAlias(condition, getAliasMap(below)).deterministic
}
