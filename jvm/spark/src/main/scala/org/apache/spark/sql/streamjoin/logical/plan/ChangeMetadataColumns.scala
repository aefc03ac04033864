package org.apache.spark.sql.streamjoin.logical.plan

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Cast, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, UnaryNode, Union}

/**
 * The columns above changelog joins that have change metadata rather than row data. The delete of a
 * row has other values in them than its insert.
 *
 * @param passed the change metadata columns, possibly renamed
 * @param computed the columns that are computed from them, or are nondeterministic
 */
private[streamjoin] final case class ChangeMetadataColumns(
    passed: AttributeSet,
    computed: AttributeSet
) {

  /** Whether an expression depends on change metadata. */
  def tells(e: Expression): Boolean =
    !e.deterministic || e.references.exists(a => passed.contains(a) || computed.contains(a))
}

private[streamjoin] object ChangeMetadataColumns {

  private val none = ChangeMetadataColumns(AttributeSet.empty, AttributeSet.empty)

  def in(plan: LogicalPlan): ChangeMetadataColumns = plan match {
    case j: ChangelogJoin => ChangeMetadataColumns(AttributeSet(j.changes), AttributeSet.empty)
    case Project(list, child) =>
      val below = in(child)
      val (passed, others) =
        list.partition(PassedColumn.of(_).exists(below.passed.contains))
      ChangeMetadataColumns(
        AttributeSet(passed.map(_.toAttribute)),
        AttributeSet(others.filter(below.tells).map(_.toAttribute))
      )
    case u: Union =>
      val below = u.children.map(c => in(c) -> c.output)
      def all(of: ChangeMetadataColumns => AttributeSet) =
        AttributeSet(u.output.zipWithIndex.collect {
          case (a, n) if below.exists { case (some, columns) => of(some).contains(columns(n)) } => a
        })
      ChangeMetadataColumns(all(_.passed), all(_.computed))
    case u: UnaryNode => in(u.child)
    case _            => none
  }
}

/** A column of a projection that passes an input column through, possibly renamed. */
private[streamjoin] object PassedColumn {

  /** The input column. It ignores a cast to the same type, as views contain it. */
  @tailrec
  def of(e: Expression): Option[Attribute] = e match {
    case a: Attribute                              => Some(a)
    case Alias(child, _)                           => of(child)
    case c: Cast if c.child.dataType == c.dataType => of(c.child)
    case _                                         => None
  }
}
