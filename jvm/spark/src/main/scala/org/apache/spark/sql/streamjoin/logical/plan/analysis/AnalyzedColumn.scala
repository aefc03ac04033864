package org.apache.spark.sql.streamjoin.logical.plan.analysis

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  UnaryExpression,
  Unevaluable
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.DataType

/**
 * A column of an input as in the analyzed query. Like [[AliasedColumn]], it is an expression so that
 * it follows its column, and references nothing.
 *
 * @param child the column
 * @param dataType its type, with the nullability of fields and elements
 * @param from where it is from
 */
private[streamjoin] final case class AnalyzedColumn(
    child: Expression,
    override val dataType: DataType,
    override val nullable: Boolean,
    from: ColumnOrigin
) extends UnaryExpression
    with Unevaluable {

  override def references: AttributeSet = AttributeSet.empty

  override protected def withNewChildInternal(newChild: Expression): AnalyzedColumn =
    copy(child = newChild)
}

private[streamjoin] object AnalyzedColumn {

  /**
   * The columns of an input with their types in the analyzed query. Each part of a column that this
   * query does not have may be NULL.
   */
  def typed(columns: Seq[Attribute], analyzed: Seq[AnalyzedColumn]): Seq[Attribute] = {
    val known = analyzed.collect { case c @ AnalyzedColumn(a: Attribute, _, _, _) => a.exprId -> c }
      .toMap
    columns.map { a =>
      known.get(a.exprId).filter(c => DataTypeUtils.sameType(c.dataType, a.dataType)).fold(
        a.withDataType(a.dataType.asNullable).withNullability(true)
      )(c => a.withDataType(c.dataType).withNullability(c.nullable))
    }
  }
}
