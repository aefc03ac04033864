package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogMarks, LastRows, StreamJoinHint}

/**
 * Marks the right input of a join with `match => 'last'`, before Spark resolves anything: what is above does
 * not see the row kind of a changelog of which only versions take part.
 */
object MarkLastRows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(JOIN)) plan
    else
      plan.resolveOperatorsUp {
        case j: Join if StreamJoinHint.on(j).exists(_.last) && mayBeChanges(j.right) =>
          j.copy(right = LastRows(1, j.right, byOption = true))
      }

  private def mayBeChanges(input: LogicalPlan): Boolean =
    LastRows.on(input).isEmpty && (!input.resolved || ChangelogMarks.areChanges(input))
}
