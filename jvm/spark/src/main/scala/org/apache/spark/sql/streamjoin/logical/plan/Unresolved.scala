package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.analysis.UnresolvedException
import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, Expression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{DataType, Metadata}

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

/**
 * A column of a changelog join whose name occurs in both inputs and in the result. It stays
 * unresolved until the join is resolved, since Spark would report an ambiguous reference before.
 */
case class AwaitedColumn(name: String) extends Attribute with Unevaluable {

  private def unresolved(what: String) = throw new UnresolvedException(what)

  override def exprId: ExprId = unresolved("exprId")
  override def dataType: DataType = unresolved("dataType")
  override def nullable: Boolean = unresolved("nullable")
  override def qualifier: Seq[String] = unresolved("qualifier")
  override lazy val resolved: Boolean = false

  override def newInstance(): AwaitedColumn = this
  override def withNullability(newNullability: Boolean): AwaitedColumn = this
  override def withQualifier(newQualifier: Seq[String]): AwaitedColumn = this
  override def withName(newName: String): AwaitedColumn = copy(newName)
  override def withMetadata(newMetadata: Metadata): Attribute = this
  override def withExprId(newExprId: ExprId): AwaitedColumn = this
  override def withDataType(newType: DataType): Attribute = this

  override def toString: String = s"'$name"
  override def sql: String = name
}
