package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  ExprId,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.{ParsedText, SessionZone}

/**
 * Finds the columns of a stream that depend on the time zone of the session, down to its sources.
 *
 * At analysis: of a batch that brings nothing to an input, Spark's optimizer leaves no expression.
 */
private[streamjoin] object ZonedInput {

  /**
   * @param parsed whether the value was read from text, so that only what of it is an instant depends on
   *   the zone
   */
  private final case class Found(
      column: ExprId,
      sql: String,
      zones: Set[String],
      parsed: Boolean = false
  )

  def of(input: LogicalPlan): Seq[ZonedPart] = {
    val names = input.output.map(a => a.exprId -> a.name).toMap
    found(input)
      .flatMap(f => names.get(f.column).map(ZonedPart(_, f.sql, f.zones)))
      .distinct
  }

  private def found(plan: LogicalPlan): Seq[Found] = plan match {
    case Project(list, child) => computed(list, found(child))
    case a: Aggregate         => computed(a.aggregateExpressions, found(a.child))
    case g: Generate =>
      val below = found(g.child)
      below ++ g.generatorOutput.flatMap(a => parts(a.exprId, g.generator, below))
    case i: StreamJoinInput =>
      for (part <- i.zoned; a <- i.output if a.name == part.column)
        yield Found(a.exprId, part.sql, part.zones)
    case _: StreamJoin | _: AsOfJoin => plan.children.flatMap(found)
    case u: Union =>
      u.children.flatMap { child =>
        val place = child.output.map(_.exprId).zip(u.output.map(_.exprId)).toMap
        found(child).map(f => f.copy(column = place.getOrElse(f.column, f.column)))
      }
    case u: UnaryNode => found(u.child)
    case _            => Nil
  }

  private def computed(list: Seq[NamedExpression], below: Seq[Found]): Seq[Found] =
    list.flatMap {
      case a @ Alias(child, _) => parts(a.exprId, child, below)
      case e                   => parts(e.exprId, e, below)
    }

  private def parts(column: ExprId, e: Expression, below: Seq[Found]): Seq[Found] = {
    val (own, whole) = (SessionZone.of(e), ParsedText.whole(e))
    val passed = for {
      f <- below if e.references.exists(_.exprId == f.column)
      if !f.parsed || ParsedText.readsInstant(e, f.column)
    } yield f.copy(column, parsed = f.parsed && whole.isInstanceOf[Attribute])
    Option.when(own.nonEmpty)(
      Found(column, ColumnNames.sql(e), own, ParsedText.isParser(whole))
    ).toSeq ++ passed
  }
}
