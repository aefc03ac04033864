package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{
  AliasHelper,
  And,
  Expression,
  Literal,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogJoin

/**
 * Projections and filters above a changelog join, as one of each: changes are consolidated by the output columns of the
 * last one. Spark's optimizer leaves several if one uses an expensive column of another twice, and if its rules are
 * switched off.
 */
private[physical] object AboveChanges extends AliasHelper {

  /** What comes out, of the columns of the join; the condition, on the same; and the join. */
  def unapply(plan: LogicalPlan): Option[(Seq[NamedExpression], Expression, ChangelogJoin)] =
    plan match {
      case j: ChangelogJoin => Some((j.output, Literal.TrueLiteral, j))
      case Project(list, child) => steady(child).map { case (below, condition, j) =>
          val aliases = getAliasMap(below)
          (list.map(replaceAliasButKeepName(_, aliases)), condition, j)
        }
      case Filter(condition, child) => steady(child).map { case (below, others, j) =>
          val own = replaceAlias(condition, getAliasMap(below))
          (below, if (others == Literal.TrueLiteral) own else And(others, own), j)
        }
      case _ => None
    }

  /** A value that is another each time it is asked for is made once. */
  private def steady(plan: LogicalPlan) =
    unapply(plan).filter { case (list, condition, _) =>
      condition.deterministic && list.forall(_.deterministic)
    }
}
