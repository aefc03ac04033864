package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streamjoin.logical.plan.{AliasedColumn, StreamJoin}
import org.apache.spark.sql.streamjoin.spark.NestedColumnAliasing.rewritePlanIfSubsetFieldsUsed
import org.apache.spark.sql.types.StructType

/**
 * Of a struct only the fields that are asked for go into a join, as with Spark's own join, whose rule
 * does it. Whole columns that nobody asks for are left out by Spark's rules for any node.
 */
object PruneNestedColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!conf.nestedSchemaPruningEnabled) plan
    else
      plan.transform {
        case p @ Project(list, Filter(condition, j: StreamJoin)) if hasStructs(j) =>
          rewritePlanIfSubsetFieldsUsed(p, (list :+ condition) ++ read(j), Nil).getOrElse(p)
        case p @ Project(list, j: StreamJoin) if hasStructs(j) =>
          rewritePlanIfSubsetFieldsUsed(p, list ++ read(j), Nil).getOrElse(p)
      }

  private def hasStructs(j: StreamJoin): Boolean = j.children.exists(_.output.exists {
    _.dataType.existsRecursively(_.isInstanceOf[StructType])
  })

  /** What a join reads of its columns; the whole ones are only called by their aliases. */
  private def read(j: StreamJoin): Seq[Expression] =
    j.expressions.filterNot(_.isInstanceOf[AliasedColumn])
}
