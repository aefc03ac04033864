package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.logical.plan.SameRows
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

/** Detects the nodes where changes originate: declarations and changelog joins. */
private[resolve] object Declaration {

  def is(plan: LogicalPlan): Boolean = plan match {
    case Project(_, child) => ChangelogMarks.areChanges(plan) && !ChangelogMarks.areChanges(child)
    case _: ChangelogJoin  => true
    case _                 => false
  }
}

/** The columns of a plan with the row kind: the kind itself, and columns computed from it. */
private[resolve] object RowKindColumns {

  def of(plan: LogicalPlan): AttributeSet = plan match {
    case p if Declaration.is(p) => own(p)
    case Project(list, child) =>
      val below = of(child)
      AttributeSet(list.filter(_.references.exists(below.contains)).map(_.toAttribute))
    case u: Union =>
      val parts = u.children.map(part => of(part) -> part.output)
      own(u) ++ AttributeSet(u.output.zipWithIndex.collect {
        case (a, n) if parts.forall { case (told, columns) => told.contains(columns(n)) } => a
      })
    case _: Filter | _: Expand | SameRows(_) => of(plan.children.head)
    case p                                   => own(p)
  }

  private def own(plan: LogicalPlan): AttributeSet = AttributeSet(ChangelogMarks.kind(plan))
}
