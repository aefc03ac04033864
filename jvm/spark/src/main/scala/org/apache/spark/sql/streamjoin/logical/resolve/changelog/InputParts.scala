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
import org.apache.spark.sql.streamjoin.logical.plan.SameRows
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ImposeOrder, InputPart, SplitKeyUpdates}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{ColumnOrigins, InputWalk}
import org.apache.spark.sql.streamjoin.logical.times.ColumnOfBranch

/**
 * Finds the filters and the computed columns of an input of a changelog join, down to its source or
 * to an operator with state.
 */
private[resolve] object InputParts extends InputWalk[ReadingPart] {

  /**
   * @param changes whether the input has deletes; otherwise no delete must find its row, and the
   *   expressions may change
   */
  def of(input: LogicalPlan, changes: Boolean): Seq[InputPart] = {
    val sources = ColumnOrigins.within(input)
    named(input).map { case (column, ReadingPart(part, reads)) =>
      part.copy(
        column = column,
        lasts = part.lasts && changes,
        reads = reads.map(a => a.name -> sources.getOrElse(a.exprId, Set.empty[Int]))
      )
    }.distinct
  }

  override protected def own(e: Expression): Option[ReadingPart] = e match {
    case Alias(column: Attribute, name) if column.name == name => None
    case _: Attribute | Alias(_: ColumnOfBranch, _)            => None
    case _ =>
      val (computed, kind) = e match {
        case n: NamedExpression => (n.children.head, n.metadata.contains(ChangelogMarks.Kind))
        case other              => (other, false)
      }
      val part =
        InputPart(None, text(computed), SessionZone.of(e), !kind && lasts(computed), reads = Nil)
      Some(ReadingPart(part, computed.collect { case a: Attribute => a }))
  }

  override protected def carried(
      what: ReadingPart,
      column: ExprId,
      reader: Expression
  ): Option[ReadingPart] = Some(what)

  override protected def passes(plan: LogicalPlan): Boolean = plan match {
    case _: Project | _: Filter | _: Union | SameRows(_) => true
    case _: EventTimeWatermark | _: ImposeOrder          => true
    case _: SplitKeyUpdates                              => true
    case _                                               => false
  }

  /** The text with unqualified column names. The names of views and aliases may change. */
  private def text(e: Expression): String =
    ColumnNames.sql(e.transform { case a: Attribute => a.withQualifier(Nil) })

  /**
   * Whether the text of an expression is the same at each start. At each start, Spark generates
   * names in lambda functions, subqueries, and Python functions.
   */
  private def lasts(e: Expression): Boolean = !e.exists {
    case _: LambdaFunction | _: PlanExpression[_] | _: PythonFuncExpression => true
    case _                                                                  => false
  }
}

/** A part of an input, and the columns that its expression reads. */
private[changelog] final case class ReadingPart(part: InputPart, reads: Seq[Attribute])
