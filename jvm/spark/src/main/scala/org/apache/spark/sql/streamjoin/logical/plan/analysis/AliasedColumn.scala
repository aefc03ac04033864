package org.apache.spark.sql.streamjoin.logical.plan.analysis

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  UnaryExpression,
  Unevaluable
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.types.DataType

/**
 * A column of a join condition with the alias of its input in the query.
 *
 * It is an expression so that it follows its column: in each batch Spark replaces the columns of a
 * file source by others without aliases. It references nothing, so that the optimizer can still
 * prune the column.
 *
 * @param isOfInput whether all columns of the input have this alias, so that it is the alias of the
 *   input
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

  /** The columns with an alias. */
  def of(columns: Iterable[Attribute], inputs: LogicalPlan*): Seq[AliasedColumn] =
    columns.toSeq.filter(_.qualifier.nonEmpty).map { a =>
      val isOfInput = inputs.find(_.outputSet.contains(a)).exists { input =>
        input.output.filterNot(ChangelogMarks.describesChange).forall(_.qualifier == a.qualifier)
      }
      AliasedColumn(a, a.qualifier, isOfInput)
    }

  /** The alias of an input, if its columns in the condition determine one. */
  def ofInput(input: LogicalPlan, known: Seq[AliasedColumn]): Option[String] =
    ColumnNames.alias(known.collect {
      case AliasedColumn(a: Attribute, alias, true) if input.outputSet.contains(a) =>
        a.withQualifier(alias)
    })

  /**
   * Restores the aliases that the optimizer has removed. A known alias replaces any other
   * qualifier, because a column of a catalog table has the name of the table as its qualifier by
   * then.
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
