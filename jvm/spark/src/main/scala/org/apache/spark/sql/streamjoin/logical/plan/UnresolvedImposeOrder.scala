package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** A call of `IMPOSE_ORDER(TABLE(child), DESCRIPTOR(column), lag)` with unresolved input. */
case class UnresolvedImposeOrder(
    column: Seq[String],
    lag: Expression,
    idleTimeout: Option[Expression],
    maxAhead: Option[Expression],
    ahead: Option[Expression],
    child: LogicalPlan
) extends UnaryNode {

  override lazy val resolved: Boolean = false

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedImposeOrder =
    copy(child = newChild)
}
