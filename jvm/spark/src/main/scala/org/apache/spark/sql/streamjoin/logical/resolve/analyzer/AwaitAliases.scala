package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.UnresolvedSubqueryColumnAliases
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.AwaitedAliases

/**
 * `(SELECT * FROM a JOIN b ...) AS t(x, y, ...)` in SQL, and `toDF` over Spark Connect, give the columns of a query names.
 * Spark does so as soon as the query is resolved, when a join of changelogs is still Spark's and has the columns of its
 * inputs. So the names are set aside before Spark resolves anything, and given back once the joins stand.
 */
private[streamjoin] object AwaitAliases extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case UnresolvedSubqueryColumnAliases(names, child)
        if !child.resolved && child.exists(_.isInstanceOf[Join]) =>
      AwaitedAliases(names, child)
  }

  /** Gives them back. */
  object Release extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
      case AwaitedAliases(names, child)
          if child.resolved && !child.exists(ResolveChangelogJoin.isPending) =>
        UnresolvedSubqueryColumnAliases(names, child)
    }
  }
}
