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
import org.apache.spark.sql.streamjoin.logical.plan.{
  ChangelogMarks,
  ClaimedOrder,
  KeyedWatermarks,
  OrderScope,
  StreamOrder,
  ZonedPart
}
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.MissingWatermark
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{
  InputSources,
  LateRowsBelow,
  ZonedInput
}
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

/** Builds a [[StreamOrder]] for a sort that Spark has resolved, or refuses it with a reason. */
private[logical] object StreamOrderBuilder extends AliasHelper {

  def build(sort: Sort): Either[StreamJoinAnalysisException, LogicalPlan] = {
    val keys = sort.order
    val child = KeyedWatermarks.of(sort.child)
    def refused(why: String, instead: String) =
      Left(StreamJoinErrors.unsupportedOrder(sort.origin, why, instead))
    val first = keys.head
    val name = ColumnNames.sql(first.child)
    val scope = if (sort.global) RequestedOrderScope.of(child) else OrderScope.EachPartition
    if (!keys.forall(_.deterministic)) {
      refused("it sorts by values that are not deterministic", "Sort by columns of the rows")
    } else if (ChangelogMarks.areChanges(child)) {
      refused(
        "its rows come and go, each change after those before it",
        "Sort the table that the changes are merged into"
      )
    } else if (LateRowsBelow.reach(child)) {
      refused(
        "late rows of a join below come out after their time, so they have no place in the order",
        "Filter them out by late IS NULL first, or leave late = 'emit' out"
      )
    } else {
      placed(first.child, child) match {
        case None =>
          windowOf(
            first.child,
            child
          ).fold(refused(unordered(first.child), instead(first.child, child))) {
            window =>
              val w = ColumnNames.written(Seq(window.name))
              val also =
                if (child.output.exists(_.exprId == window.exprId)) "" else s", and select $w too"
              refused(
                s"$name is the start of $w, and nothing says when all windows that start before one have come",
                s"Sort by the window itself, which counts as its end: ORDER BY $w, ...$also"
              )
          }
        case Some(_) if first.direction != Ascending =>
          refused(
            s"$name comes first in descending order, and of a stream that has no end the last row " +
              "never comes",
            s"Sort by $name ascending"
          )
        case Some(_) if first.nullOrdering == NullsLast && first.child.nullable =>
          refused(
            s"rows whose $name is NULL would come last, when the stream has ended",
            s"Leave NULLS LAST out: they come first in their batch; or filter by $name IS NOT NULL"
          )
        case Some(depth) =>
          Right(under(
            keys,
            child,
            if (first.child.isInstanceOf[Attribute]) name
            else RowtimeWords.of(first.child, child),
            scope,
            PrecedingRows.decide(first.child, child),
            depth
          ))
      }
    }
  }

  private def unordered(e: Expression): String =
    s"${ColumnNames.sql(e)}, which comes first, is no event time with a watermark, so nothing says " +
      "when all rows that belong before one have come"

  /** The window whose start a value is. */
  private def windowOf(value: Expression, child: LogicalPlan): Option[Attribute] =
    (value, child) match {
      case (GetStructField(w: Attribute, 0, _), _) if TimeUnit.isWindow(w.dataType) => Some(w)
      case (_, Project(list, below)) => windowOf(replaceAlias(value, getAliasMap(list)), below)
      case (_, a: Aggregate)         => windowOf(replaceAlias(value, getAliasMap(a)), a.child)
      case (_, _: SubqueryAlias | _: View | _: Filter) => windowOf(value, child.children.head)
      case _                                           => None
    }

  /**
   * Advice on a valid sort key.
   *
   * @param asked the refused sort key
   */
  private def instead(asked: Expression, child: LogicalPlan): String = {
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
      s"Give an event-time column a watermark below, as in ${order(t)}, and sort by it first"
    }
    times.headOption
      .map(named(_, child))
      .map(t => s"Sort by $t first, ascending: ORDER BY $t, ...")
      .orElse(numbers.find(isAsked).map { n =>
        s"If it grows with time, give it a watermark below, as in ${order(n)}" +
          clock.fold("")(c => s". Or g${c.tail}")
      })
      .orElse(clock)
      .getOrElse(
        "Let an event-time column with an imposed order pass up to here, and sort by it first"
      )
  }

  /** A name of the column that is unique in the output. */
  private def named(a: Attribute, child: LogicalPlan): String = {
    val name = ColumnNames.written(Seq(a.name))
    if (child.output.count(_.name.equalsIgnoreCase(a.name)) == 1) name
    else ColumnNames.among(child.output, a).getOrElse(name)
  }

  /**
   * The number of projections between the sort and the plan in which the time has a watermark.
   * There the sort key is an expression of event times.
   */
  private def placed(time: Expression, child: LogicalPlan): Option[Int] =
    if (
      StreamOrder(
        Seq(SortOrder(time, Ascending)),
        "",
        "",
        OrderScope.Query,
        whole = false,
        Nil,
        Nil,
        new ClaimedOrder(Nil),
        child
      ).watermark._2.nonEmpty
    )
      Some(0)
    else
      child match {
        case Project(list, below) if list.forall(_.deterministic) =>
          placed(replaceAlias(time, getAliasMap(list)), below).map(_ + 1)
        case _: SubqueryAlias | _: View | _: Filter =>
          placed(time, child.children.head).map(_ + 1)
        case _ => None
      }

  private def under(
      keys: Seq[SortOrder],
      child: LogicalPlan,
      name: String,
      scope: OrderScope,
      whole: Boolean,
      depth: Int
  ): LogicalPlan =
    (child, depth) match {
      case (_, 0) =>
        StreamOrder(
          keys,
          name,
          columnOf(keys.head.child),
          scope,
          whole,
          zoned(keys, child),
          InputSources.of(child),
          new ClaimedOrder(keys),
          child
        )
      case (Project(list, below), _) =>
        val aliases = getAliasMap(list)
        val replaced = keys.map(k => replaceAlias(k, aliases).asInstanceOf[SortOrder])
        child.withNewChildren(Seq(under(replaced, below, name, scope, whole, depth - 1)))
      case _ =>
        child.withNewChildren(
          Seq(under(keys, child.children.head, name, scope, whole, depth - 1))
        )
    }

  private def zoned(keys: Seq[SortOrder], child: LogicalPlan): Seq[ZonedPart] = {
    val read = keys.head.references.map(_.name).toSet
    ZonedInput.of(child).filter(part => read(part.column))
  }

  private def columnOf(time: Expression): String = time match {
    case a: Attribute => a.name
    case _            => "rowtime"
  }
}
