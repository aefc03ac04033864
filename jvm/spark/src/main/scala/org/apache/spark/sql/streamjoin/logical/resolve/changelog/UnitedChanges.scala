package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.logical.plan.changes.{ChangelogMarks, EndsChanges}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks.isCommit

/**
 * `UNION ALL` of changelogs: a table with the rows of all parts.
 *
 * Two parts may have rows with the same key, so the union has no key. All columns identify a row,
 * and equal rows are counted. So each change requires its old image, and a part with a key is
 * normalized below the union (see [[LatestVersions]]).
 */
private[resolve] object UnitedChanges {

  /** Removes the key that a union below inherits from its first part. */
  def of(changes: LogicalPlan): LogicalPlan = if (isUnited(changes)) unkeyed(changes) else changes

  /** Applies a function to each part of a union below. */
  def completed(changes: LogicalPlan)(complete: LogicalPlan => LogicalPlan): LogicalPlan =
    changes match {
      case p if Declaration.is(p) => p
      case p @ EndsChanges()      => p
      case u: Union               => u.mapChildren(complete)
      case p                      => p.mapChildren(completed(_)(complete))
    }

  /** The reason why a union is no changelog; none: it is one. */
  def misfit(u: Union): Option[String] = u.children.zipWithIndex.collectFirst {
    case (part, i) if !ChangelogMarks.areChanges(part) =>
      s"part ${i + 1} of UNION ALL is not declared as a changelog, but other parts are"
    case (part, i) if part.output.map(isKind) != u.children.head.output.map(isKind) =>
      s"part ${i + 1} of UNION ALL has the row kind in another column than the first part"
  }

  /**
   * The same below a join, which identifies rows by their data columns. So the commit columns must
   * be at the same positions in all parts.
   */
  def misfitBelow(u: Union): Option[String] =
    misfit(u).orElse(u.children.zipWithIndex.collectFirst {
      case (part, i) if part.output.map(isCommit) != u.children.head.output.map(isCommit) =>
        s"part ${i + 1} of UNION ALL has its commit columns in other positions than the first " +
          "part. These columns are not part of the rows"
    })

  private def isKind(a: Attribute): Boolean = a.metadata.contains(ChangelogMarks.Kind)

  /** The advice for a union that is no changelog. */
  val Instead: String =
    "the same columns in each part, and declare each part with fromChangelog. An append-only " +
      "part needs a column _change_type with the value 'insert'"

  private def isUnited(plan: LogicalPlan): Boolean = plan match {
    case p if Declaration.is(p) => false
    case u: Union               => misfit(u).isEmpty
    case p                      => p.children.exists(isUnited)
  }

  private def unkeyed(plan: LogicalPlan): LogicalPlan = plan match {
    case p if Declaration.is(p) => p
    case u: Union if misfit(u).isEmpty =>
      u.mapChildren { part =>
        val below = unkeyed(part)
        Project(below.output.map(ChangelogMarks.counted), below)
      }
    case p => PropagatedMarks.ofInputs(p.mapChildren(unkeyed))
  }
}
