package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  ExprId,
  Expression,
  LambdaFunction,
  NamedExpression,
  PlanExpression,
  PythonFuncExpression
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.SessionZone
import org.apache.spark.sql.streamjoin.logical.plan.{
  ChangelogMarks,
  ImposeOrder,
  InputPart,
  SameRows,
  SplitKeyUpdates
}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.InputWalk

/**
 * Finds the filters of an input of a changelog join and what its columns are computed of, down to its
 * source or to an operator that keeps a state of its own.
 */
private[resolve] object InputParts extends InputWalk[InputPart] {

  /** @param changes whether rows of the input go: else each is what it was when it came */
  def of(input: LogicalPlan, changes: Boolean): Seq[InputPart] =
    named(input).map { case (column, part) =>
      part.copy(column = column, lasts = part.lasts && changes)
    }.distinct

  override protected def own(e: Expression): Option[InputPart] = e match {
    case Alias(column: Attribute, name) if column.name == name => None
    case _: Attribute                                          => None
    case _ =>
      val (computed, kind) = e match {
        case n: NamedExpression => (n.children.head, n.metadata.contains(ChangelogMarks.Kind))
        case other              => (other, false)
      }
      Some(InputPart(None, text(computed), SessionZone.of(e), !kind && lasts(computed)))
  }

  override protected def carried(
      what: InputPart,
      column: ExprId,
      reader: Expression
  ): Option[InputPart] = Some(what)

  override protected def passes(plan: LogicalPlan): Boolean = plan match {
    case _: Project | _: Filter | _: Union | SameRows(_) => true
    case _: EventTimeWatermark | _: ImposeOrder          => true
    case _: SplitKeyUpdates                              => true
    case _                                               => false
  }

  /** By the names of columns alone: those of views and aliases may be others. */
  private def text(e: Expression): String =
    ColumnNames.sql(e.transform { case a: Attribute => a.withQualifier(Nil) })

  /** Names of what has none are made at each start. */
  private def lasts(e: Expression): Boolean = !e.exists {
    case _: LambdaFunction | _: PlanExpression[_] | _: PythonFuncExpression => true
    case _                                                                  => false
  }
}
