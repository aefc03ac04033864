package org.apache.spark.sql.streamjoin.logical.plan.nodes

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.SameRows
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.times.SameColumn

/**
 * The unique key of a changelog: the declared one, or the key of the result of a join below,
 * inferred from the keys of its inputs. Such a result has both images of each change. So no state
 * is required to add the old one.
 *
 * Source: Flink's planner, which infers the unique keys of a join in the same way
 * (`FlinkRelMdUniqueKeys`).
 */
private[streamjoin] object UniqueKey {

  /** The key as columns of an input; empty: no key, or a column of it is missing. */
  def of(input: LogicalPlan): Seq[Attribute] =
    declared(input).getOrElse(inferred(input, _.lastingKey))

  /** The inferred key; empty if a key is declared. */
  def fromBelow(input: LogicalPlan): Seq[Attribute] =
    if (declared(input).nonEmpty) Nil else inferred(input, _.lastingKey)

  /**
   * The key of a table to which the changes are merged. There, a key that occurs again replaces its
   * row.
   */
  def ofTable(input: LogicalPlan): Seq[Attribute] =
    declared(input).getOrElse(inferred(input, _.tableKey))

  private def declared(input: LogicalPlan): Option[Seq[Attribute]] =
    Some(ChangelogMarks.key(input.output)).filter(_.nonEmpty)

  private def inferred(input: LogicalPlan, keyOf: ChangelogJoin => Seq[Attribute]) = {
    val key = joinBelow(input).fold(Seq.empty[Attribute])(keyOf)
    val found = key.map(k => input.output.find(isThat(input, _, k)))
    if (found.forall(_.nonEmpty)) found.flatten else Nil
  }

  /** Whether the key is the key of an aggregate, which may have a group of NULL. */
  def isOfGroups(input: LogicalPlan): Boolean = declared(input)
    .fold(joinBelow(input).exists(_.inputs.exists(_.ofGroups)))(ChangelogMarks.isOfGroups)

  @tailrec
  private def joinBelow(plan: LogicalPlan): Option[ChangelogJoin] = plan match {
    case j: ChangelogJoin                     => Some(j)
    case _: Project | _: Filter | SameRows(_) => joinBelow(plan.children.head)
    case _                                    => None
  }

  /** Whether a column of a plan is a column of the join below, possibly renamed. */
  @tailrec
  private def isThat(plan: LogicalPlan, column: Attribute, below: Attribute): Boolean = plan match {
    case _: ChangelogJoin => column.exprId == below.exprId
    case Project(list, child) =>
      list.find(_.exprId == column.exprId).flatMap(SameColumn.unapply(_)) match {
        case Some(a) => isThat(child, a, below)
        case None    => false
      }
    case other => isThat(other.children.head, column, below)
  }
}
