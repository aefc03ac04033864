package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.UnresolvedSubqueryColumnAliases
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.AwaitedAliases

/**
 * Analyzer rule that defers the column names of a query with joins: those of `(SELECT * FROM a JOIN
 * b ...) AS t(x, y, ...)` in SQL, and of `toDF` over Spark Connect.
 *
 * Spark assigns the names as soon as the query is resolved. A changelog join is still Spark's own
 * join then, and has the columns of its inputs. So this rule sets the names aside before Spark
 * resolves the query. [[Release]] restores them when the joins are built.
 */
private[streamjoin] object AwaitAliases extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case UnresolvedSubqueryColumnAliases(names, child)
        if !child.resolved && child.exists(_.isInstanceOf[Join]) =>
      AwaitedAliases(names, child)
  }

  /** Restores the names. */
  object Release extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
      case AwaitedAliases(names, child)
          if child.resolved && !child.exists(ResolveChangelogJoin.isPending) =>
        UnresolvedSubqueryColumnAliases(names, child)
    }
  }
}
