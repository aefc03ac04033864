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

  private val none = new NondeterministicColumns(AttributeMap.empty)

  /**
   * The nondeterministic columns of a plan. A join or a keyed changelog has none, because its
   * deletes repeat stored values.
   */
  def in(plan: LogicalPlan): NondeterministicColumns = plan match {
    case _: ChangelogJoin                                           => none
    case p if Declaration.is(p) && ChangelogMarks.isKeyed(p.output) => none
    case Project(list, child) => made(child, list.map(e => e.toAttribute -> e))
    case e: Expand            => made(e.child, e.projections.flatMap(e.output.zip(_)))
    case g: Generate => made(
        g.child,
        (g.child.output ++ g.generatorOutput).map {
          case a if g.child.outputSet.contains(a) => a -> a
          case a                                  => a -> g.generator
        }
      )
    case u: Union =>
      new NondeterministicColumns(AttributeMap(u.children.flatMap { part =>
        val below = in(part)
        u.output.zip(part.output).flatMap { case (a, of) => below.source(of).map(a -> _) }
      }))
    case u: UnaryNode => in(u.child)
    case _            => none
  }

  /**
   * A nondeterministic filter above the nearest joins and keyed declarations. It may pass one image
   * of a row and drop the other.
   */
  def filter(plan: LogicalPlan): Option[Filter] = plan match {
    case _: ChangelogJoin                                           => None
    case p if Declaration.is(p) && ChangelogMarks.isKeyed(p.output) => None
    case f: Filter if is(f.condition)                               => Some(f)
    case p => p.children.flatMap(filter).headOption
  }

  private def made(
      child: LogicalPlan,
      columns: Seq[(Attribute, Expression)]
  ): NondeterministicColumns = {
    val below = in(child)
    new NondeterministicColumns(AttributeMap(columns.flatMap { case (a, e) =>
      below.source(e).map {
        case Alias(by, _) => a -> by
        case by           => a -> by
      }
    }))
  }
}
