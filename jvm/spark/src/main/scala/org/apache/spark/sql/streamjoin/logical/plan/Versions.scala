package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression, Unevaluable}
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.spark.NormalizeFloatingNumbers
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Columns of the build side of an [[AsOfJoin]] whose rows are versions: each is valid from its time to the
 * next version or the delete of its key.
 *
 * {{{
 *   12:00  EUR 1.10  insert             valid from 12:00 to 12:05
 *   12:05  EUR 1.12  update_postimage   valid from 12:05 to 12:09
 *   12:09  EUR 1.12  delete             from here on EUR has no version
 * }}}
 *
 * An expression, so that Spark renames its columns with those of the join's inputs.
 *
 * @param deleted whether a row is the delete of its key; no column of the output
 * @param key the columns that identify the row of which these are versions
 * @param sequence decides which of the rows of one time is the last
 * @param carried whether the sequence is there for this alone, and no column of the output
 */
private[streamjoin] final case class Versions(
    deleted: Attribute,
    key: Seq[Attribute],
    sequence: Option[Attribute],
    carried: Boolean
) extends Expression
    with Unevaluable {

  /** The columns that the join has for itself. */
  def hidden: Seq[Attribute] = deleted +: sequence.filter(_ => carried).toSeq

  /** The key column that an expression has one value for each value of; none: there is no such. */
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

  /** The columns of a changelog as those of its versions: rows of a result, and no changes. */
  def columns(changes: Seq[Attribute]): Seq[Attribute] = {
    val kind = ChangelogMarks.kind(changes)
    changes.filterNot(a => kind.exists(_.exprId == a.exprId)).map(ChangelogMarks.unmarked)
  }
}
