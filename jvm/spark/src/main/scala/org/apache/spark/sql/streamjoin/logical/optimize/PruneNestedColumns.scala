package org.apache.spark.sql.streamjoin.logical.optimize

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.optimizer.NestedColumnAliasing.rewritePlanIfSubsetFieldsUsed
import org.apache.spark.sql.streamjoin.logical.plan.analysis.AliasedColumn
import org.apache.spark.sql.streamjoin.logical.plan.nodes.StreamJoin
import org.apache.spark.sql.types.StructType

/**
 * Prunes unused fields of structs from the inputs of a join. It calls the rule that Spark applies
 * to its own join. Spark prunes whole columns for any node.
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

  /**
   * The expressions of a join, except aliases, which refer to whole columns without reading them.
   */
  private def read(j: StreamJoin): Seq[Expression] =
    j.expressions.filterNot(_.isInstanceOf[AliasedColumn])
}
