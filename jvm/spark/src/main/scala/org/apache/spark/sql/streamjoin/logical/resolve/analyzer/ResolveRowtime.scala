package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{PLAN_EXPRESSION, UNRESOLVED_ATTRIBUTE}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime

/**
 * Analyzer rule for the pseudo-column `ROWTIME`, or `t.ROWTIME`, of a stream, see [[Rowtime]]. A
 * real column of this name takes precedence. A table has no such pseudo-column.
 */
object ResolveRowtime extends Rule[LogicalPlan] {

  /** Skips a resolved plan, as in each batch of a query. */
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUpWithPruning(
    _.containsAnyPattern(UNRESOLVED_ATTRIBUTE, PLAN_EXPRESSION)
  ) {
    case p if p.childrenResolved && p.children.exists(_.isStreaming) && !isAmbiguous(p) =>
      p match {
        case Project(list, child) => Project(list.map(named(p, _)), child)
        case a: Aggregate =>
          a.copy(
            groupingExpressions = a.groupingExpressions.map(replaced(p, _)),
            aggregateExpressions = a.aggregateExpressions.map(named(p, _))
          )
        case s @ Sort(order, _, list: Project, _) =>
          ordered(s.copy(order = order.map(replaced(p, _).asInstanceOf[SortOrder])), list)
        case _ => p.mapExpressions(replaced(p, _))
      }
  }

  /**
   * Appends the columns that the sort references to the list below, as Spark does for missing
   * columns.
   */
  private def ordered(sort: Sort, list: Project): LogicalPlan = {
    val missing = AttributeSet(sort.order.flatMap(_.references.filter(_.resolved))) -- list.output
    val found = list.child.output.filter(missing.contains)
    if (found.isEmpty) sort
    else Project(list.output, sort.copy(child = list.copy(projectList = list.projectList ++ found)))
  }

  /** Whether both inputs may still have the same columns, so that a reference is ambiguous. */
  private def isAmbiguous(plan: LogicalPlan): Boolean = plan match {
    case j: Join => !j.duplicateResolved
    case _       => false
  }

  /** An element of a projection keeps its name. */
  private def named(p: LogicalPlan, e: NamedExpression): NamedExpression = e match {
    case u: UnresolvedAttribute =>
      value(p, u).fold[NamedExpression](u)(Alias(_, u.nameParts.last)())
    case other => replaced(p, other).asInstanceOf[NamedExpression]
  }

  private def replaced(p: LogicalPlan, e: Expression): Expression = e.transform {
    case u: UnresolvedAttribute                    => value(p, u).getOrElse(u)
    case s: SubqueryExpression if !s.plan.resolved => s.withNewPlan(ofOuter(p, s.plan))
  }

  /** Replaces the ROWTIME of an outer stream in a subquery by the name of its column. */
  private def ofOuter(p: LogicalPlan, query: LogicalPlan): LogicalPlan =
    query.transformAllExpressions {
      case u: UnresolvedAttribute if u.nameParts.length > 1 && isRowtime(p, u) =>
        qualified(p, u).fold(u)(a => UnresolvedAttribute(u.nameParts.init :+ a.name))
    }

  private def isRowtime(p: LogicalPlan, u: UnresolvedAttribute): Boolean =
    Rowtime.isCalled(u.nameParts.last) && !isTaken(p) &&
      p.resolveChildren(u.nameParts, conf.resolver).isEmpty

  /** Whether Spark may still find a column or an alias of this name. */
  private def isTaken(p: LogicalPlan): Boolean =
    p.expressions.exists(_.exists {
      case Alias(u: UnresolvedAttribute, _) if Rowtime.isCalled(u.nameParts.last) => false
      case a: Alias => Rowtime.isCalled(a.name)
      case _        => false
    }) || p.children.exists(isVisible(p, _))

  /** A filter or sort may reference columns that the projection right below it omits. */
  private def isVisible(p: LogicalPlan, below: LogicalPlan): Boolean =
    below.resolved && below.output.exists(a => Rowtime.isCalled(a.name)) || (p match {
      case _: Filter | _: Sort =>
        below match {
          case _: SubqueryAlias => false
          case u: UnaryNode     => isVisible(p, u.child)
          case _                => false
        }
      case _ => false
    })

  private def value(p: LogicalPlan, u: UnresolvedAttribute): Option[Expression] =
    if (!isRowtime(p, u)) None
    else if (u.nameParts.length > 1) qualified(p, u)
    else if (PlaceWindows.mayBringBounds(p)) None
    else
      p.children.map(rowtime(p, _)) match {
        case Seq(Right(e))    => Some(e)
        case Seq(Left(among)) => throw refusal(u, among)
        case _                => throw refusal(u, p.children.flatMap(Rowtime.columns))
      }

  /** A sort may reference the event time of the input of the projection right below it. */
  private def rowtime(
      p: LogicalPlan,
      child: LogicalPlan
  ): Either[Seq[Attribute], Expression] = (p, child) match {
    case (_: Sort, Project(_, below)) => Rowtime.of(below).orElse(Rowtime.of(child))
    case _                            => Rowtime.of(child)
  }

  private def qualified(p: LogicalPlan, u: UnresolvedAttribute): Option[Attribute] = {
    val qualifier = u.nameParts.init
    def isOf(a: Attribute) = a.qualifier.length >= qualifier.length &&
      a.qualifier.takeRight(qualifier.length).corresponds(qualifier)(conf.resolver)
    p.children.flatMap(Rowtime.columns).filter(isOf) match {
      case Seq(one)                                          => Some(one)
      case Nil if !p.children.flatMap(_.output).exists(isOf) => None
      case others                                            => throw refusal(u, others)
    }
  }

  private def refusal(u: UnresolvedAttribute, among: Seq[Attribute]) = {
    val found = if (among.isEmpty) "none" else among.map(ColumnNames.of).mkString(", ")
    StreamJoinErrors.analysis("INVALID_ROWTIME", u.origin, "name" -> u.name, "columns" -> found)
  }
}
