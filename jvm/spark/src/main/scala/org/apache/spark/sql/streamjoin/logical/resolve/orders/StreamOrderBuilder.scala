package org.apache.spark.sql.streamjoin.logical.resolve.orders

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  Filter,
  LogicalPlan,
  Project,
  Sort,
  SubqueryAlias,
  View
}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.{StreamJoinAnalysisException, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ClaimedOrder,
  JoinNode,
  KeyedWatermarks,
  OrderScope,
  StreamOrder
}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinWindows
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.MissingWatermark
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{LateRowsBelow, Rowtime, ZonedInput}
import org.apache.spark.sql.streamjoin.logical.times.{TimeColumns, TimeExpression}

/** Builds a [[StreamOrder]] for a sort that Spark has resolved, or refuses it with a reason. */
private[logical] final class StreamOrderBuilder(sort: Sort) extends AliasHelper {

  private val child = KeyedWatermarks.of(sort.child)

  def build: Either[StreamJoinAnalysisException, LogicalPlan] = {
    val keys = sort.order
    def refused(why: String, instead: String) =
      Left(StreamJoinErrors.unsupportedOrder(sort.origin, why, instead))
    val first = keys.head
    val name = ColumnNames.sql(first.child)
    if (!keys.forall(_.deterministic)) {
      refused("the sort key is not deterministic", "Sort by columns of the rows")
    } else if (ChangelogMarks.areChanges(child)) {
      refused(
        "its rows are changes, and each change follows the earlier ones",
        "Sort the table into which the changes are merged"
      )
    } else if (LateRowsBelow.reach(child)) {
      refused(
        "a join below emits late rows after their time, so they have no position in the order",
        "Filter them out by late IS NULL first, or remove late = 'emit'"
      )
    } else {
      placed(keys, child) match {
        case None =>
          val (why, what) = windowOf(first.child, child)
            .fold(unordered(first.child) -> instead(first.child))(startOf(_, name))
          refused(why, what)
        case Some(_) if first.direction != Ascending =>
          refused(
            s"$name is the first sort key, in descending order. The last row of a stream " +
              "without an end never arrives",
            s"Sort by $name ascending"
          )
        case Some(_) if first.nullOrdering == NullsLast && first.child.nullable =>
          refused(
            s"rows whose $name is NULL would be last, after the end of the stream",
            s"Remove NULLS LAST, which puts them first in their batch. Or filter by $name IS " +
              "NOT NULL"
          )
        case Some(plan) => Right(plan)
      }
    }
  }

  /** Why the start of a window is no sort key, and what to write. */
  private def startOf(window: Attribute, name: String): (String, String) = {
    val w = ColumnNames.written(Seq(window.name))
    val also =
      if (child.output.exists(_.exprId == window.exprId)) "" else s", and select $w too"
    (
      s"$name is the start of $w, and no watermark bounds when earlier windows arrive",
      s"Sort by the window itself, which the order compares by its end: ORDER BY $w, ...$also"
    )
  }

  private def unordered(e: Expression): String =
    s"${ColumnNames.sql(e)}, the first sort key, is not an event time with a watermark. No " +
      "watermark bounds when earlier rows arrive"

  /** The window whose start a value is. */
  private def windowOf(value: Expression, plan: LogicalPlan): Option[Attribute] =
    (value, plan) match {
      case (GetStructField(w: Attribute, 0, _), _) if TimeUnit.isWindow(w.dataType) => Some(w)
      case (_, Project(list, below)) => windowOf(replaceAlias(value, getAliasMap(list)), below)
      case (_, a: Aggregate)         => windowOf(replaceAlias(value, getAliasMap(a)), a.child)
      case (_, _: SubqueryAlias | _: View | _: Filter) => windowOf(value, plan.children.head)
      case _                                           => None
    }

  /**
   * Advice on a valid sort key.
   *
   * @param asked the refused sort key
   */
  private def instead(asked: Expression): String = {
    val (times, others) = child.output
      .filter(a => TimeUnit.of(a.dataType).nonEmpty && !TimeUnit.isWindow(a.dataType))
      .partition(TimeColumns.of(child).isWatermarked)
    val (numbers, clocks) = others.partition(a => TimeUnit.of(a.dataType).contains(TimeUnit.Number))
    def isAsked(a: Attribute) = a.semanticEquals(asked)
    def order(a: Attribute) =
      s"""df.imposeOrder("${ColumnNames.written(Seq(a.name))}", ${MissingWatermark.exampleLag(
          a
        )._1})"""
    def clock = clocks.find(isAsked).orElse(clocks.headOption).map { t =>
      s"Impose an order on an event-time column below, as in ${order(t)}, and sort by it first"
    }
    times.headOption
      .map(named)
      .map(t => s"Sort by $t first, ascending: ORDER BY $t, ...")
      .orElse(numbers.find(isAsked).map { n =>
        s"If it increases with time, impose an order on it below, as in ${order(n)}" +
          clock.fold("")(c => s". Or i${c.tail}")
      })
      .orElse(clock)
      .getOrElse(
        "Select an event-time column with an imposed order up to here, and sort by it first"
      )
  }

  /** A name of the column that is unique in the output. */
  private def named(a: Attribute): String = {
    val name = ColumnNames.written(Seq(a.name))
    if (child.output.count(_.name.equalsIgnoreCase(a.name)) == 1) name
    else ColumnNames.among(child.output, a).getOrElse(name)
  }

  /**
   * The plan with an order at the highest place at which the time has a watermark. There the sort
   * key is an expression of event times. None if there is no such place.
   *
   * @param keys the sort keys, as expressions of the columns of the plan
   */
  private def placed(keys: Seq[SortOrder], plan: LogicalPlan): Option[LogicalPlan] = {
    def below(keys: Seq[SortOrder]) = placed(keys, plan.children.head)
      .map(ordered => plan.withNewChildren(Seq(ordered)))
    if (TimeExpression.watermark(keys.head.child, TimeColumns.of(plan)).nonEmpty)
      Some(ordered(keys, plan))
    else
      plan match {
        case Project(list, _) if list.forall(_.deterministic) =>
          val aliases = getAliasMap(list)
          below(keys.map(replaceAlias(_, aliases).asInstanceOf[SortOrder]))
        case _: SubqueryAlias | _: View | _: Filter => below(keys)
        case _                                      => None
      }
  }

  /** The order of the sort, at a plan below. */
  private def ordered(keys: Seq[SortOrder], plan: LogicalPlan): StreamOrder = {
    val time = sort.order.head.child
    StreamOrder(
      keys,
      if (time.isInstanceOf[Attribute]) ColumnNames.sql(time) else RowtimeWords.of(time, child),
      if (sort.global) OrderScope.Query else OrderScope.EachPartition,
      waitsForWindows(time, child),
      new ClaimedOrder(keys),
      ZonedInput.joined(plan)
    )
  }

  /**
   * Whether an order by the time of a join with a window PRECEDING on one input emits a row when its
   * window is complete, together with all its matches.
   *
   * Source: the second query of SQLstream s-Server, "Streaming Joins", in which a trade waits for
   * orders up to its own time. The first query, with FOLLOWING, does not wait for a complete window.
   */
  private def waitsForWindows(time: Expression, plan: LogicalPlan): Boolean = plan match {
    case Project(list, child) => waitsForWindows(replaceAlias(time, getAliasMap(list)), child)
    case j: JoinNode if j.rowtime.isEmpty =>
      j.getTagValue(JoinWindows.Placed).exists(_.precede) &&
      Rowtime.of(j).exists(_.semanticEquals(time))
    case p if StreamOrder.isKeptBy(p) => p.children.exists(waitsForWindows(time, _))
    case _                            => false
  }
}
