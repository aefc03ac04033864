package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.analysis.UnresolvedException
import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, Unevaluable}
import org.apache.spark.sql.types.{DataType, Metadata}

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
