package org.apache.spark.sql.streamjoin.logical.resolve

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
import org.apache.spark.sql.streamjoin.logical.plan.{ChangelogMarks, ImposeOrder, InputPart}

/**
 * Finds the filters of an input of a changelog join and what its columns are computed of, down to its
 * source or to an operator that keeps a state of its own.
 *
 * At analysis: of a batch that brings nothing to an input, Spark's optimizer leaves no expression.
 */
private[resolve] object InputParts {

  /** @param column none: which rows there are */
  private final case class Found(column: Option[ExprId], part: InputPart)

  /** @param changes whether rows of the input go: else each is what it was when it came */
  def of(input: LogicalPlan, changes: Boolean): Seq[InputPart] = {
    val names = input.output.map(a => a.exprId -> a.name).toMap
    found(input).collect {
      case Found(None, part)                           => part
      case Found(Some(id), part) if names.contains(id) => part.copy(column = names.get(id))
    }.map(p => if (changes) p else p.copy(lasts = false)).distinct
  }

  private def found(plan: LogicalPlan): Seq[Found] = plan match {
    case Project(list, child) =>
      val below = found(child)
      below.filter(_.column.isEmpty) ++
        list.flatMap(e => parts(e, below).map(_.copy(column = Some(e.exprId))))
    case Filter(condition, child) =>
      val below = found(child)
      below ++ parts(condition, below).map(_.copy(column = None))
    case _: SubqueryAlias | _: View | _: EventTimeWatermark | _: ImposeOrder =>
      plan.children.flatMap(found)
    case u: Union =>
      u.children.flatMap { child =>
        val place = child.output.map(_.exprId).zip(u.output.map(_.exprId)).toMap
        found(child).map(f => f.copy(column = f.column.map(id => place.getOrElse(id, id))))
      }
    case _ => Nil
  }

  private def parts(e: Expression, below: Seq[Found]): Seq[Found] = {
    val ids = e.references.map(_.exprId).toSet
    own(e).map(Found(None, _)).toSeq ++ below.filter(_.column.exists(ids))
  }

  private def own(e: Expression): Option[InputPart] = e match {
    case Alias(column: Attribute, name) if column.name == name => None
    case _: Attribute                                          => None
    case _ =>
      val (computed, kind) = e match {
        case n: NamedExpression => (n.children.head, n.metadata.contains(ChangelogMarks.Kind))
        case other              => (other, false)
      }
      Some(InputPart(None, text(computed), SessionZone.of(e), !kind && lasts(computed)))
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
