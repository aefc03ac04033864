package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.logical.plan.PassesColumns

/** A logical node that keeps all nodes above it unresolved, until a rule replaces it. */
private[streamjoin] trait KeepsUnresolved extends PassesColumns {

  override lazy val resolved: Boolean = false
}

/**
 * A join that will have output columns that no input has. It keeps all nodes above unresolved until
 * the join has them, since a `*` there would miss them.
 *
 * @param child Spark's own join, or the node that Spark adds above a join by column names
 */
case class UnresolvedStreamJoin(child: LogicalPlan) extends KeepsUnresolved {

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedStreamJoin =
    copy(child = newChild)
}

/**
 * A call of `FROM_CHANGELOG(TABLE(child), ...)` or a similar function with unresolved input.
 *
 * @param function the name, in lower case
 * @param columns for arguments that are columns, their column names
 * @param mapping the row kinds of words
 * @param deletes the condition of rows that delete their key
 */
case class UnresolvedChangelog(
    function: String,
    columns: Map[String, Seq[String]],
    mapping: Option[Expression],
    deletes: Option[Expression],
    child: LogicalPlan
) extends KeepsUnresolved {

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedChangelog =
    copy(child = newChild)
}

/** A call of `IMPOSE_ORDER(TABLE(child), DESCRIPTOR(column), lag)` with unresolved input. */
case class UnresolvedImposeOrder(
    column: Seq[String],
    lag: Expression,
    idleTimeout: Option[Expression],
    maxAhead: Option[Expression],
    ahead: Option[Expression],
    per: Seq[Seq[String]],
    child: LogicalPlan
) extends KeepsUnresolved {

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedImposeOrder =
    copy(child = newChild)
}

/**
 * New column names for a query with unresolved joins. It stays unresolved until the joins are
 * resolved. Spark compares the number of names with the number of columns, and a changelog join has
 * other columns than its inputs.
 */
case class AwaitedAliases(names: Seq[String], child: LogicalPlan) extends KeepsUnresolved {

  override protected def withNewChildInternal(newChild: LogicalPlan): AwaitedAliases =
    copy(child = newChild)
}
