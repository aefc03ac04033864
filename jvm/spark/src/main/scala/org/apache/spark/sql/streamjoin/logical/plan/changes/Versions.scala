package org.apache.spark.sql.streamjoin.logical.plan.changes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression, Unevaluable}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Columns of the build side of an [[AsOfJoin]] whose rows are versions. A version is valid from its
 * event time to that of the next version, or of the delete, of its key.
 *
 * {{{
 *   12:00  EUR 1.10  insert             valid from 12:00 to 12:05
 *   12:05  EUR 1.12  update_postimage   valid from 12:05 to 12:09
 *   12:09  EUR 1.12  delete             EUR has no version from 12:09 on
 * }}}
 *
 * It is an expression, so that Spark renames its columns together with those of the join's inputs.
 *
 * @param deleted the flag of a delete; not a column of the output
 * @param key the unique key: rows with equal values are versions of one row
 * @param sequence the column that orders versions with equal event times
 * @param carried whether the query drops the sequence below the join, so that the output lacks it
 */
private[streamjoin] final case class Versions(
    deleted: Attribute,
    key: Seq[Attribute],
    sequence: Option[Attribute],
    carried: Boolean
) extends Expression
    with Unevaluable {

  /** The columns that the output of the join lacks. */
  def hidden: Seq[Attribute] = deleted +: sequence.filter(_ => carried).toSeq

  /** The key column that an expression maps one to one; none: it is no such expression. */
  def keyColumn(e: Expression): Option[Attribute] = e match {
    case c: Cast if TimeUnit.widens(c.child.dataType, c.dataType) => keyColumn(c.child)
    case _ => key.find(NormalizeFloatingNumbers.normalize(_).semanticEquals(e))
  }

  override def children: Seq[Expression] = (deleted +: key) ++ sequence

  override def dataType: DataType = BooleanType

  override def nullable: Boolean = false

  override protected def withNewChildrenInternal(renamed: IndexedSeq[Expression]): Versions = {
    val columns = renamed.map(_.asInstanceOf[Attribute])
    val (keys, sequences) = columns.tail.splitAt(key.length)
    Versions(columns.head, keys, sequences.headOption, carried)
  }
}

private[streamjoin] object Versions {

  /** The columns of a changelog as those of its versions: without row kind and marks of changes. */
  def columns(changes: Seq[Attribute]): Seq[Attribute] = {
    val kind = ChangelogMarks.kind(changes)
    changes.filterNot(a => kind.exists(_.exprId == a.exprId)).map(ChangelogMarks.unmarked)
  }
}
