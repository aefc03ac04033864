package org.apache.spark.sql.streamjoin.warm

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{
  EventTimeWatermark,
  Filter,
  LogicalPlan,
  Project,
  SubqueryAlias,
  UnaryNode,
  View
}
import org.apache.spark.sql.classic
import org.apache.spark.sql.streamjoin.logical.plan.nodes.ImposeOrder

/**
 * A live stream with its history.
 *
 * @param live the plan of the stream, without a watermark
 * @param source its one source
 * @param rows the history, with the columns of the stream
 * @param history as the user gave it
 * @param told the name of the source, or its format with its location
 */
private[warm] final class Input(
    live: LogicalPlan,
    val source: LogicalPlan,
    val rows: classic.DataFrame,
    val history: History,
    val told: String
) {
  private val canonical = live.canonicalized

  /** Whether this part of a query is the stream. */
  def isReadBy(part: LogicalPlan): Boolean =
    part.isStreaming && part.output.length == live.output.length && part.canonicalized == canonical
}

private[warm] object Input {

  /** Whether it gives a column a watermark. The tables of the history take its place. */
  def isTimed(node: LogicalPlan): Boolean = node match {
    case _: ImposeOrder | _: EventTimeWatermark => true
    case _                                      => false
  }

  /** A stream below its watermarks, aliases and views. It has the same columns. */
  @tailrec
  def untimed(live: LogicalPlan): LogicalPlan = live match {
    case node: UnaryNode if isTimed(node) => untimed(node.child)
    case SubqueryAlias(_, child)          => untimed(child)
    case view: View                       => untimed(view.child)
    case other                            => other
  }

  /** A plan with the columns of a live stream, with the rows of a table. */
  def inPlaceOf(live: LogicalPlan, table: classic.DataFrame): LogicalPlan = {
    val columns: Seq[NamedExpression] = table.logicalPlan.output.zip(live.output).map {
      case (from, to) => Alias(from, to.name)(to.exprId, to.qualifier, Some(to.metadata))
    }
    Project(columns, table.logicalPlan)
  }

  /** The history without the rows that a condition excludes. */
  def where(rows: classic.DataFrame, condition: Option[Expression]): classic.DataFrame =
    condition.fold(rows) { c =>
      classic.Dataset.ofRows(rows.sparkSession, Filter(c, rows.logicalPlan))
    }
}
