package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{LastRows, StreamJoinHint}

/**
 * Analyzer rule that marks the right input of a join with `match => 'last'`. It runs with the rules
 * for hints, before Spark resolves column names:
 *
 * - The join reads the versions of a changelog, so expressions above it must not resolve to the row
 *   kind.
 * - No condition above the join may be moved below the mark, where it would select other last rows.
 */
object MarkLastRows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(JOIN)) {
      case j: Join if StreamJoinHint.options(j).exists(_.last) && LastRows.on(j.right).isEmpty =>
        j.copy(right = LastRows(1, j.right, LastRows.ByOption))
    }
}
