package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.logical.plan.ChangelogMarks

/**
 * `UNION ALL` of changelogs: a table that has the rows of all of them. Two of its parts may have a row of one
 * key, so it has none itself: rows are told apart by all columns, and counted. A part that has a key gets the
 * last image of each key below the union (see [[LastImages]]), for then each change must come with the image
 * that it replaces.
 */
private[resolve] object UnitedChanges {

  /** The changes without the key that the first part of a union below says. */
  def of(changes: LogicalPlan): LogicalPlan = if (isUnited(changes)) unkeyed(changes) else changes

  /** With what each part of a union below needs where its changes become those of the union. */
  def completed(changes: LogicalPlan)(complete: LogicalPlan => LogicalPlan): LogicalPlan =
    changes match {
      case p if Declaration.is(p) => p
      case u: Union               => u.mapChildren(complete)
      case p                      => p.mapChildren(completed(_)(complete))
    }

  /** Why the rows of a union are not those of changelogs; none: they are. */
  def misfit(u: Union): Option[String] = u.children.zipWithIndex.collectFirst {
    case (part, i) if !ChangelogMarks.areChanges(part) =>
      s"part ${i + 1} of UNION ALL has rows of which nobody has said that they are changes, and others have changes"
    case (part, i) if places(part, isKind) != places(u.children.head, isKind) =>
      s"part ${i + 1} of UNION ALL says in another column than the first of which kind its changes are"
  }

  /** The same where a join tells their rows apart: by what is no part of them in none of the union's parts. */
  def misfitBelow(u: Union): Option[String] =
    misfit(u).orElse(u.children.zipWithIndex.collectFirst {
      case (part, i) if places(part, isCommit) != places(u.children.head, isCommit) =>
        s"part ${i + 1} of UNION ALL has its commit columns, which are no part of its rows, in other places than the first"
    })

  private def isKind(a: Attribute): Boolean = a.metadata.contains(ChangelogMarks.Kind)

  private def isCommit(a: Attribute): Boolean = ChangelogMarks.isCommit(a)

  private def places(part: LogicalPlan, which: Attribute => Boolean): Seq[Boolean] =
    part.output.map(which)

  /** What to write in the place of a union that does not fit. */
  val Instead: String =
    "the same columns in each part, and declare each with fromChangelog: one whose rows only come, too, " +
      "with a column _change_type that is 'insert'"

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
    case p => RenewedMarks.ofInputs(p.mapChildren(unkeyed))
  }
}
