package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogMarks

/**
 * The sequence of changes where projections above their declaration have left it out: which change of a key
 * is the later one does not depend on what somebody wants to see of it.
 */
private[resolve] object CarriedSequence {

  /** The input with its sequence, as one column more where it was left out; none if it has none. */
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
            val wider = Project(p.projectList :+ s, p.child)
            wider.copyTagsFrom(p)
            wider
          }
        case p => p
      }

  /** The right input under other ids than the left one's: both may be made of one stream. */
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
