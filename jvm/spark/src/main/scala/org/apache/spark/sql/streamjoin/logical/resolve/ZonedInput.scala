package org.apache.spark.sql.streamjoin.logical.resolve

import org.apache.spark.sql.catalyst.expressions.{ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.SessionZone
import org.apache.spark.sql.streamjoin.logical.plan.{ImposeOrder, ZonedPart}

/**
 * Finds what of an input of a changelog join depends on the time zone of the session, down to its
 * source or to an operator that keeps a state of its own.
 *
 * At analysis: of a batch that brings nothing to an input, Spark's optimizer leaves no expression.
 */
private[resolve] object ZonedInput {

  /** @param column none: which rows there are */
  private final case class Found(column: Option[ExprId], sql: String, zones: Set[String])

  def of(input: LogicalPlan): Seq[ZonedPart] = {
    val names = input.output.map(a => a.exprId -> a.name).toMap
    found(input).collect {
      case Found(None, sql, zones)                           => ZonedPart(None, sql, zones)
      case Found(Some(id), sql, zones) if names.contains(id) => ZonedPart(names.get(id), sql, zones)
    }.distinct
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
    val own = SessionZone.of(e)
    val ids = e.references.map(_.exprId).toSet
    Option.when(own.nonEmpty)(Found(None, ColumnNames.sql(e), own)).toSeq ++
      below.filter(_.column.exists(ids))
  }
}
