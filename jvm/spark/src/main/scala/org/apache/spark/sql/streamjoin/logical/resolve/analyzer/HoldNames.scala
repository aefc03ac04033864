package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedSubqueryColumnAliases}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{AwaitedAliases, AwaitedColumn}

/**
 * Analyzer rule that defers names above joins. A changelog join has other columns than its inputs,
 * and is still Spark's own join when Spark looks up names. So this rule sets two kinds of names
 * aside before Spark resolves the query:
 *
 *  - The column names of `(SELECT * FROM a JOIN b ...) AS t(x, y, ...)` in SQL, and of `toDF` over
 *    Spark Connect. Spark would assign them to the columns of the inputs.
 *  - `_change_type` and the commit columns in SQL. Spark would find them in either input.
 *
 * [[Release]] restores them when the joins below are built.
 */
private[streamjoin] object HoldNames extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case UnresolvedSubqueryColumnAliases(names, child) if !child.resolved && hasJoin(child) =>
      AwaitedAliases(names, child)
    case p if !p.isInstanceOf[Join] && hasJoin(p) && !p.childrenResolved =>
      p.transformExpressions {
        case UnresolvedAttribute(Seq(name)) if ChangelogMarks.isName(name) => AwaitedColumn(name)
      }
  }

  private def hasJoin(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[Join])

  /** Restores the names. */
  object Release extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
      case p if p.childrenResolved && isHeld(p) && !p.exists(ResolveChangelogJoin.isPending) =>
        p match {
          case AwaitedAliases(names, child) => UnresolvedSubqueryColumnAliases(names, child)
          case _ =>
            p.transformExpressions { case AwaitedColumn(name) => UnresolvedAttribute(Seq(name)) }
        }
    }

    private def isHeld(plan: LogicalPlan): Boolean = plan.isInstanceOf[AwaitedAliases] ||
      plan.expressions.exists(_.exists(_.isInstanceOf[AwaitedColumn]))
  }
}
