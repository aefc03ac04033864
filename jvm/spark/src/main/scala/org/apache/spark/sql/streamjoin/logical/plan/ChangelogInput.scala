package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * An input of a changelog join.
 *
 * It is an expression, so that Spark renames its columns together with those of the input.
 *
 * @param added the column that is true if a change adds its row, and false if it removes the row
 * @param key the unique key; empty: all columns identify a row, and equal rows are counted
 * @param inferred whether the key follows from a join below, see [[UniqueKey]]
 * @param ofGroups whether the key is the key of an aggregate, which may have a group of NULL
 * @param sequence orders the changes of one key
 * @param parts the expressions of the input above its source
 * @param ttl the time to live of a row after its last write, in microseconds
 */
private[streamjoin] final case class ChangelogInput(
    added: Attribute,
    key: Seq[Attribute],
    inferred: Boolean,
    ofGroups: Boolean,
    sequence: Option[Attribute],
    parts: Seq[InputPart],
    ttl: Option[Long] = None
) extends Expression
    with Unevaluable {

  override def children: Seq[Expression] = (added +: key) ++ sequence
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false

  override protected def withNewChildrenInternal(
      renamed: IndexedSeq[Expression]
  ): ChangelogInput = {
    val columns = renamed.map(_.asInstanceOf[Attribute])
    val (keys, sequences) = columns.tail.splitAt(key.length)
    copy(added = columns.head, key = keys, sequence = sequences.headOption)
  }
}

/**
 * An expression of an input of a changelog join above its source. If it changed between the insert
 * of a row and its delete, the delete would not find the row. The session time zone may change it,
 * too.
 *
 * @param column the name of the column, since expression IDs differ in each plan; none: a filter
 * @param sql the expression, or the name of the column
 * @param zones the session time zones that it depends on
 * @param lasts whether its text is the same at each start of the query
 */
private[streamjoin] final case class InputPart(
    column: Option[String],
    sql: String,
    zones: Set[String],
    lasts: Boolean
)
