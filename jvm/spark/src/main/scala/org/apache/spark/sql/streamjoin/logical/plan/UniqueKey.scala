package org.apache.spark.sql.streamjoin.logical.plan

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}

/**
 * By which columns the rows of a changelog are told apart: those that somebody has declared, or the key that the result
 * of a join below has, which follows from the keys of its inputs. Each change of such a result comes with both images,
 * so nothing need be kept to complete it.
 *
 * Source: Flink's planner, which derives the unique keys of a join's inputs alike (`FlinkRelMdUniqueKeys`).
 */
private[streamjoin] object UniqueKey {

  /** The key as columns of an input; empty: none is known, or not all of its columns are still there. */
  def of(input: LogicalPlan): Seq[Attribute] = ChangelogMarks.key(input.output) match {
    case Nil      => fromBelow(input)
    case declared => declared
  }

  /** The same where nobody has declared one. */
  def fromBelow(input: LogicalPlan): Seq[Attribute] =
    if (ChangelogMarks.key(input.output).nonEmpty) Nil
    else {
      val key = joinBelow(input).fold(Seq.empty[Attribute])(_.lastingKey)
      val found = key.map(k => input.output.find(isThat(input, _, k)))
      if (found.forall(_.nonEmpty)) found.flatten else Nil
    }

  /** Whether the key is that of groups, of which one may be that of NULL. */
  def isOfGroups(input: LogicalPlan): Boolean = ChangelogMarks.key(input.output) match {
    case Nil      => joinBelow(input).exists(_.ofGroups.nonEmpty)
    case declared => ChangelogMarks.isOfGroups(declared)
  }

  @tailrec
  private def joinBelow(plan: LogicalPlan): Option[ChangelogJoin] = plan match {
    case j: ChangelogJoin                     => Some(j)
    case _: Project | _: Filter | SameRows(_) => joinBelow(plan.children.head)
    case _                                    => None
  }

  /** Whether a column of a plan is one of the join below, under whatever name. */
  @tailrec
  private def isThat(plan: LogicalPlan, column: Attribute, below: Attribute): Boolean = plan match {
    case _: ChangelogJoin => column.exprId == below.exprId
    case Project(list, child) =>
      list.find(_.exprId == column.exprId).flatMap(PassedColumn.of(_)) match {
        case Some(a) => isThat(child, a, below)
        case None    => false
      }
    case other => isThat(other.children.head, column, below)
  }
}
