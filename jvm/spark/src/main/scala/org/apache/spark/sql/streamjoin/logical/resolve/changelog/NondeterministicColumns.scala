package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ChangelogJoin

/**
 * Nondeterministic columns of changes, such as `current_date()` and `rand()`. A query may output
 * them. No filter, key, or group may depend on them, because a delete has other values than its
 * insert.
 *
 * @param made the nondeterministic expression of each such column
 */
private[resolve] final class NondeterministicColumns private (made: AttributeMap[Expression]) {

  /** The display text of the nondeterministic part of an expression; none: it is deterministic. */
  def of(e: Expression): Option[String] =
    if (NondeterministicColumns.is(e)) Some(ColumnNames.sql(e))
    else
      column(e).map {
        case (a, by) if a.name == NondeterministicColumns.PulledOut => ColumnNames.sql(by)
        case (a, by) => s"${ColumnNames.of(a)}, which is ${ColumnNames.sql(by)}"
      }

  private def column(e: Expression): Option[(Attribute, Expression)] =
    e.references.collectFirst(Function.unlift(a => made.get(a).map(a -> _)))

  private def source(e: Expression): Option[Expression] =
    if (NondeterministicColumns.is(e)) Some(e) else column(e).map(_._2)
}

private[resolve] object NondeterministicColumns {

  /** Whether an expression itself may have another value for a delete than for its insert. */
  def is(e: Expression): Boolean = !e.deterministic || e.containsPattern(CURRENT_LIKE)

  /**
   * Spark's name for a nondeterministic grouping expression that it moves to a projection below.
   */
  private val PulledOut = "_nondeterministic"

  /** The nondeterministic columns of a plan. */
  def in(plan: LogicalPlan): NondeterministicColumns =
    new NondeterministicColumns(AttributeMap(columns(plan)))

  private def columns(plan: LogicalPlan): Seq[(Attribute, Expression)] = plan match {
    case p if repeatsValues(p) => Nil
    case Project(list, child)  => made(child, list.map(e => e.toAttribute -> e))
    case e: Expand             => made(e.child, e.projections.flatMap(e.output.zip(_)))
    case g: Generate =>
      made(g.child, g.child.output.map(a => a -> a) ++ g.generatorOutput.map(_ -> g.generator))
    case u: Union     => u.children.flatMap(part => made(part, u.output.zip(part.output)))
    case u: UnaryNode => columns(u.child)
    case _            => Nil
  }

  /** Whether the deletes of a plan repeat stored values, as those of a join or a keyed changelog. */
  private def repeatsValues(plan: LogicalPlan): Boolean = plan.isInstanceOf[ChangelogJoin] ||
    Declaration.is(plan) && ChangelogMarks.isKeyed(plan.output)

  /**
   * A nondeterministic filter above the nearest joins and keyed declarations. It may pass one image
   * of a row and drop the other.
   */
  def filter(plan: LogicalPlan): Option[Filter] = plan match {
    case p if repeatsValues(p)        => None
    case f: Filter if is(f.condition) => Some(f)
    case p                            => p.children.flatMap(filter).headOption
  }

  /** The nondeterministic ones of columns that are expressions on the columns of a plan. */
  private def made(
      child: LogicalPlan,
      columns: Seq[(Attribute, Expression)]
  ): Seq[(Attribute, Expression)] = {
    val below = in(child)
    columns.flatMap { case (a, e) =>
      below.source(e).map {
        case Alias(by, _) => a -> by
        case by           => a -> by
      }
    }
  }
}
