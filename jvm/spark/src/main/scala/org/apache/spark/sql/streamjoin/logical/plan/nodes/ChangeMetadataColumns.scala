package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, UnaryNode, Union}
import org.apache.spark.sql.streamjoin.logical.times.SameColumn

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
      val (passed, others) = list.partition(SameColumn.unapply(_).exists(below.passed.contains))
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
