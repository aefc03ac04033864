package org.apache.spark.sql.streamjoin.logical.plan.nodes

import scala.reflect.ClassTag

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.streamjoin.logical.plan.PassesTimes

/** A node on an input of a join that only affects the join. The join removes it. */
private[streamjoin] trait InputMark extends PassesTimes {

  /** Whether marks of other kinds are found below it. */
  private[nodes] def coversOthers: Boolean = false
}

/** Finds marks of one kind below the alias of an input, and below marks that cover others. */
private[streamjoin] abstract class InputMarks[M <: InputMark](implicit kind: ClassTag[M]) {

  /** The mark on an input of a join. */
  final def on(input: LogicalPlan): Option[M] = input match {
    case kind(mark)                     => Some(mark)
    case a: SubqueryAlias               => on(a.child)
    case m: InputMark if m.coversOthers => on(m.child)
    case _                              => None
  }

  /** The input without its mark. */
  final def off(input: LogicalPlan): LogicalPlan = changed(input)(_.child)

  /** The input with its mark replaced. */
  final def changed(input: LogicalPlan)(change: M => LogicalPlan): LogicalPlan = input match {
    case kind(mark) => change(mark)
    case a: SubqueryAlias if on(a.child).nonEmpty =>
      a.withNewChildren(Seq(changed(a.child)(change)))
    case m: InputMark if m.coversOthers => m.withNewChildren(Seq(changed(m.child)(change)))
    case other                          => other
  }
}
