package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{AwaitedColumn, ChangelogMarks}

/**
 * In SQL, `_change_type` above a join is that of the result; while the join is Spark's, it would be that of
 * either input. It is set aside before Spark resolves anything, and given back once what is below stands.
 */
private[streamjoin] object AwaitChangeColumns extends Rule[LogicalPlan] {

  private val names =
    Set(ChangelogMarks.ChangeType, ChangelogMarks.CommitVersion, ChangelogMarks.CommitTimestamp)

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsDown {
    case p if !p.isInstanceOf[Join] && p.exists(_.isInstanceOf[Join]) && !p.childrenResolved =>
      p.transformExpressions {
        case UnresolvedAttribute(Seq(name)) if names(name.toLowerCase(Locale.ROOT)) =>
          AwaitedColumn(name)
      }
  }

  /** Gives them back. */
  object Release extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
      case p
          if p.childrenResolved && p.expressions.exists(_.exists(_.isInstanceOf[AwaitedColumn])) &&
            !p.children.exists(_.exists(ResolveChangelogJoin.isPending)) =>
        p.transformExpressions { case AwaitedColumn(name) => UnresolvedAttribute(Seq(name)) }
    }
  }
}
