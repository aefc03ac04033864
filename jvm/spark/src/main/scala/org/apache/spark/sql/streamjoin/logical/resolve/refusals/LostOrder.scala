package org.apache.spark.sql.streamjoin.logical.resolve.refusals

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  Distinct,
  LogicalPlan,
  Project,
  Union
}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.nodes.JoinNode
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Rowtime

/** Explains where an input without an event time has lost one, and how to keep it. */
private[logical] object LostOrder {

  /** @return sentences without the last full stop; none if no plan below has an event time */
  def of(input: LogicalPlan): Option[String] = place(input).map {
    case (at, times) =>
      val had = times.map(ColumnNames.of).mkString(" and ")
      s"The event time $had below has a watermark, but ${how(at, times)}"
  }

  /** The node on the way down that omits the event time of its child. */
  private def place(plan: LogicalPlan): Option[(LogicalPlan, Seq[Attribute])] =
    plan.children.iterator.map { child =>
      Rowtime.columns(child) match {
        case Nil   => place(child)
        case times => Some((plan, times))
      }
    }.collectFirst { case Some(found) => found }

  private def how(at: LogicalPlan, times: Seq[Attribute]): String = at match {
    case Project(list, _) => listed(list, times, "a list of columns")
    case _: Aggregate | _: Distinct if !times.exists(isSparks) =>
      val (what, time) =
        (if (at.isInstanceOf[Distinct]) "DISTINCT" else "an aggregation", times.head)
      s"$what emits its rows by Spark's watermark, which requires a TIMESTAMP, and " +
        s"${name(time)} is " +
        s"a ${time.dataType.sql}. Compute a TIMESTAMP from it below, with ${timestamp(time)} AS " +
        s"${name(time)}, impose the order on that column, and compare it with a TIMESTAMP of " +
        "the other input"
    case a: Aggregate if ends(a.aggregateExpressions, times).nonEmpty =>
      listed(a.aggregateExpressions, times, "an aggregation")
    case _: Aggregate =>
      val time = times.find(t => !TimeUnit.isWindow(t.dataType)).getOrElse(times.head)
      val window =
        if (TimeUnit.isWindow(time.dataType)) name(time) else s"window(${name(time)}, '1 hour')"
      s"an aggregation emits no event time. Also group by $window, and select the window up to " +
        "this join, or window_time(window)"
    case u: Union =>
      val columns = u.output.indices.filter { i =>
        u.children.exists(c => Rowtime.columns(c).exists(_.exprId == c.output(i).exprId))
      }.map(i => name(u.output(i)))
      "another input of the union has none at the same position. Impose an order on " +
        s"${columns.mkString(" or ")} of each input of the union, or above the union"
    case j: JoinNode if j.kind.byEventTime =>
      "the condition of the join below does not bound it. Compare it there with a time of the " +
        "other input"
    case other =>
      s"${other.nodeName} removes the watermark. Impose the order above this operator"
  }

  /** How a projection lost the event times of its child. */
  private def listed(
      list: Seq[NamedExpression],
      times: Seq[Attribute],
      where: String
  ): String =
    ends(list, times).headOption.map { case (alias, end) =>
      val window = name(end.child.asInstanceOf[Attribute])
      s"${written(alias)} is one end of that window, and several windows may share this end. " +
        s"Select $window itself up to this join, or window_time($window) AS " +
        s"${name(alias.toAttribute)}"
    }.orElse(computed(list, times).headOption.map { case (alias, time) =>
      val again =
        if (TimeUnit.of(alias.dataType).isEmpty || TimeUnit.isWindow(alias.dataType)) ""
        else s", or impose the order on ${name(alias.toAttribute)} above the computation"
      s"${written(alias)} is computed from it, and a computed column has no watermark. Select " +
        s"${name(time)} itself up to this join, and compare that$again"
    }).getOrElse {
      val keep = times.map(name).mkString(" or ")
      s"$where omits it. Select $keep up to this join as well"
    }

  private def ends(
      list: Seq[NamedExpression],
      times: Seq[Attribute]
  ): Seq[(Alias, GetStructField)] = list.collect {
    case a @ Alias(f @ GetStructField(w: Attribute, _, _), _) if AttributeSet(times).contains(w) =>
      (a, f)
  }

  /** Whether Spark can have a watermark on the column. */
  private def isSparks(time: Attribute): Boolean =
    TimeUnit.of(time.dataType).contains(TimeUnit.Timestamp)

  private def timestamp(time: Attribute): String = TimeUnit.of(time.dataType) match {
    case Some(TimeUnit.Number) =>
      s"timestamp_seconds(${name(time)}), or timestamp_micros if the unit of the numbers is not " +
        "seconds,"
    case _ if TimeUnit.isWindow(time.dataType) => s"CAST(${name(time)}.end AS TIMESTAMP)"
    case _                                     => s"CAST(${name(time)} AS TIMESTAMP)"
  }

  /**
   * The columns computed from an event time. Those with a time type come first, since they are most
   * likely to be compared.
   */
  private def computed(
      list: Seq[NamedExpression],
      times: Seq[Attribute]
  ): Seq[(Alias, Attribute)] = (for {
    a <- list.collect { case a: Alias => a }
    time <- times.find(a.references.contains)
  } yield (a, time)).sortBy { case (a, _) => !TimeUnit.of(a.dataType).exists(_ != TimeUnit.Number) }

  private def name(a: Attribute): String = ColumnNames.written(Seq(a.name))

  private def written(a: Alias): String = s"${ColumnNames.sql(a.child)} AS ${name(a.toAttribute)}"
}
