package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.Tagged
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks

/**
 * Restores the sequence column of a changelog if projections above its declaration have dropped it.
 * The sequence orders the changes of a key, whether or not the query selects it.
 */
private[resolve] object CarriedSequence {

  /**
   * The input with its sequence, appended if it was dropped. An input without a declared sequence
   * remains unchanged. None: the sequence cannot be restored.
   */
  def of(input: LogicalPlan): Option[LogicalPlan] =
    Option(if (isIn(input)) input else carried(input)).filter(p => isIn(p) || !isDeclared(p))

  private def isIn(plan: LogicalPlan): Boolean = ChangelogMarks.sequence(plan.output).nonEmpty

  private def isDeclared(plan: LogicalPlan): Boolean = plan match {
    case p if Declaration.is(p) => isIn(p)
    case p                      => p.children.exists(isDeclared)
  }

  private def carried(plan: LogicalPlan): LogicalPlan =
    if (Declaration.is(plan)) plan
    else
      plan.mapChildren(carried) match {
        case p: Project =>
          ChangelogMarks.sequence(p.child.output).filterNot(p.outputSet.contains).fold(p) { s =>
            Tagged(p)(Project(p.projectList :+ s, p.child))
          }
        case p => p
      }

  /**
   * The right input with new expression IDs for the columns that are in the left input, too. In a
   * self-join, both inputs may restore the same column.
   */
  def apart(left: LogicalPlan, right: LogicalPlan): LogicalPlan = {
    val same = left.outputSet.intersect(right.outputSet)
    if (same.isEmpty) right
    else
      Project(
        right.output.map { a =>
          if (same.contains(a)) Alias(a, a.name)(explicitMetadata = Some(a.metadata)) else a
        },
        right
      )
  }
}
