package org.apache.spark.sql.streamjoin.logical.plan.options

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.types.DataType

/**
 * The late rows that a join emits.
 *
 * It is an expression, so that Spark renames its columns with those of the join's inputs.
 *
 * @param column the output column with the reason why a row is late; NULL in all other rows
 * @param below the input columns with the reason of late rows that joins below emitted
 * @param sharedKeys equalities of key columns of which the output has one copy; a late row has its
 *   own value there
 */
private[streamjoin] final case class LateRows(
    column: Attribute,
    below: Seq[Attribute] = Nil,
    sharedKeys: Seq[Expression] = Nil
) extends Expression
    with Unevaluable {

  override def children: Seq[Expression] = column +: (below ++ sharedKeys)

  override def dataType: DataType = column.dataType

  override def nullable: Boolean = true

  override protected def withNewChildrenInternal(renamed: IndexedSeq[Expression]): LateRows = {
    val (columns, keys) = renamed.splitAt(1 + below.length)
    val attributes = columns.map(_.asInstanceOf[Attribute])
    LateRows(attributes.head, attributes.tail, keys)
  }
}
