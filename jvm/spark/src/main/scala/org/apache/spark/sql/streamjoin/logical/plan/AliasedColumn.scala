package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  UnaryExpression,
  Unevaluable
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.types.DataType

/**
 * A column of a join's condition and the alias that the person gave its input.
 *
 * In each batch Spark puts other columns, without aliases, in the place of those of a source of files.
 * This is an expression so that it follows them; but it reads nothing, so that no column is kept for its
 * sake.
 *
 * @param isOfInput whether all columns of its input have this alias, so that it means the input
 */
private[streamjoin] final case class AliasedColumn(
    child: Expression,
    alias: Seq[String],
    isOfInput: Boolean
) extends UnaryExpression
    with Unevaluable {

  override def references: AttributeSet = AttributeSet.empty

  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): AliasedColumn =
    copy(child = newChild)
}

private[streamjoin] object AliasedColumn {

  /** Those of the columns that have an alias. */
  def of(columns: Iterable[Attribute], inputs: LogicalPlan*): Seq[AliasedColumn] =
    columns.toSeq.filter(_.qualifier.nonEmpty).map { a =>
      val isOfInput = inputs.find(_.outputSet.contains(a)).exists { input =>
        input.output.filterNot(saysOfChange).forall(_.qualifier == a.qualifier)
      }
      AliasedColumn(a, a.qualifier, isOfInput)
    }

  /** What the person calls an input, as far as its columns in the condition tell. */
  def ofInput(input: LogicalPlan, known: Seq[AliasedColumn]): Option[String] =
    ColumnNames.alias(known.collect {
      case AliasedColumn(a: Attribute, alias, true) if input.outputSet.contains(a) =>
        a.withQualifier(alias)
    })

  /** Whether a column is none of the row, but says what became of it. */
  private def saysOfChange(a: Attribute): Boolean =
    a.metadata.contains(ChangelogMarks.Kind) || ChangelogMarks.isCommit(a)

  /**
   * An expression with the aliases that the optimizer has removed. A column of a catalog table then has the name of
   * the table as its qualifier, so an alias that is known replaces any other.
   */
  def restored(e: Expression, known: Seq[AliasedColumn]): Expression = {
    val aliases = known.collect { case AliasedColumn(a: Attribute, alias, _) =>
      a.exprId -> alias
    }.toMap
    e.transform {
      case a: Attribute => aliases.get(a.exprId).fold(a)(a.withQualifier)
    }
  }
}
