package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import java.util.Locale

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Sum}
import org.apache.spark.sql.catalyst.expressions.{
  AtLeastNNonNulls,
  Attribute,
  AttributeSet,
  Expression,
  SessionWindow,
  VirtualColumn
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.{ChangelogErrors, StreamJoinErrors}
import org.apache.spark.sql.streamjoin.logical.plan.{RowsElsewhere, SameRows}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ChangelogJoin, StreamJoin, ToUpserts}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.Refusal
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns

import io.streamjoin.model.Side

/** Plan check that refuses operators that would treat each change as an insert. */
private[streamjoin] object Changelogs extends (LogicalPlan => Unit) {

  /** The refusal of an input with an undeclared column that has the name of the row kind. */
  def undeclared(join: LogicalPlan, side: Side, input: LogicalPlan): Option[Refusal] = {
    val declared = ChangelogMarks.kind(input)
    input.output.find { a =>
      a.name.toLowerCase(Locale.ROOT) == ChangelogMarks.ChangeType &&
      !declared.exists(_.exprId == a.exprId)
    }.map(a =>
      Refusal(StreamJoinErrors.analysis(
        "UNDECLARED_CHANGELOG",
        join.origin,
        "side" -> side.name,
        "column" -> a.name
      ))
    )
  }

  /** The refusal of an event-time join above a changelog, declared or not. */
  def refusal(join: StreamJoin): Option[Refusal] =
    Side.both.zip(join.children).flatMap { case (side, input) =>
      refusal(join, side, input)
    }.headOption

  /** The same for one input of any join that treats each row as an insert. */
  def refusal(join: LogicalPlan, side: Side, input: LogicalPlan): Option[Refusal] =
    undeclared(join, side, input).orElse(
      Option.when(ChangelogMarks.changesWithin(input))(
        Refusal(
          ChangelogErrors.unsupportedChangelog(
            join.origin,
            s"the ${side.name} input is a changelog, but this join reads append-only rows",
            "streamJoin(..., mode=\"changelog\") with the column _change_type kept"
          )
        )
      )
    )

  /**
   * Checks a query at its start. The row kind must reach the sink, or the sums above must use it as
   * a sign.
   */
  override def apply(plan: LogicalPlan): Unit = plan match {
    case w: WriteToStream => written(w.inputQuery, w.outputMode)
    case _                =>
  }

  private def written(plan: LogicalPlan, mode: OutputMode): Unit = {
    val query = belowLastSteps(plan)
    reaches(query)
    if (mode == OutputMode.Complete() && ChangelogMarks.areChanges(query)) {
      throw ChangelogErrors.unsupportedChangelog(
        query.origin,
        "in output mode complete a sink replaces its whole content in each batch, but this " +
          "query emits changes",
        "the query in update mode, for a sink that takes changes"
      )
    }
    if (mode == OutputMode.Update()) plan.foreach(fallsOut)
  }

  /**
   * The plan below the topmost nodes that rename, repartition, or count rows. A node that
   * repartitions or counts rows is permitted at the top only. Below a projection, it would separate
   * the join from the columns that decide what it must consolidate.
   */
  @tailrec
  private def belowLastSteps(plan: LogicalPlan): LogicalPlan = plan match {
    case RowsElsewhere(child) => belowLastSteps(child)
    case SameRows(child)      => belowLastSteps(child)
    case _                    => plan
  }

  /**
   * Rule with the same checks before Spark's check of the output mode. So the user sees an error
   * about changes, not a general one of Spark's.
   */
  object BeforeMode extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = {
      plan match {
        case w: WriteToStreamStatement =>
          written(w.inputQuery, w.outputMode)
          if (w.outputMode == OutputMode.Append()) w.inputQuery.foreach(neverFinal)
        case _ =>
      }
      plan
    }
  }

  private def reaches(plan: LogicalPlan): Unit = plan match {
    case _ if !ChangelogMarks.changesWithin(plan) =>
    case _ if ChangelogMarks.areChanges(plan)     => stays(plan)
    case a: Aggregate                             =>
      // PIVOT becomes two aggregations
      a.child.foreach {
        case below: Aggregate if ChangelogMarks.areChanges(below.child) => counts(below)
        case _                                                          =>
      }
      counts(a)
    case u: Union if u.children.exists(ChangelogMarks.areChanges) =>
      stays(u)
    case _ if !plan.children.exists(ChangelogMarks.areChanges) => plan.children.foreach(reaches)
    case _: Project | _: Filter | SameRows(_) =>
      throw ChangelogErrors.changeTypeDropped(
        plan.origin,
        "the result",
        plan.output.map(_.name)
      )
    case other => stays(other)
  }

  /**
   * Refuses a filter on sums of changes. In update mode, the sink would not see that a group no
   * longer passes the filter.
   */
  private def fallsOut(plan: LogicalPlan): Unit = plan match {
    case Filter(condition, child) if fixed(child).exists(!condition.references.subsetOf(_)) =>
      throw ChangelogErrors.unsupportedChangelog(
        plan.origin,
        s"the filter ${ColumnNames.sql(condition)} on sums of changes drops a group without a " +
          "delete, so the sink would keep its earlier result",
        "the condition as a column of the result, and delete by this column in the sink"
      )
    case _ =>
  }

  /**
   * Refuses sums of changes without a watermark in append mode. Spark's error would ask for a
   * watermark, which changes do not have.
   */
  private def neverFinal(plan: LogicalPlan): Unit = plan match {
    case a: Aggregate
        if RowKindColumns.of(a.child).nonEmpty &&
          !a.child.output.exists(TimeColumns.isMarked) =>
      throw ChangelogErrors.unsupportedChangelog(
        a.origin,
        "each change corrects sums of changes, so no sum is final. Append mode requires final " +
          "results",
        "the query in update mode"
      )
    case _ =>
  }

  /**
   * The columns of a group that never change, above an aggregation of changes; none: there is no
   * such aggregation.
   */
  private def fixed(plan: LogicalPlan): Option[AttributeSet] = plan match {
    case a: Aggregate =>
      Option.when(RowKindColumns.of(a.child).nonEmpty)(AttributeSet(a.aggregateExpressions.collect {
        case e if !e.exists(_.isInstanceOf[AggregateExpression]) => e.toAttribute
      }))
    case Project(list, child) =>
      fixed(child).map(some =>
        AttributeSet(list.filter(_.references.subsetOf(some)).map(_.toAttribute))
      )
    case _: Filter | SameRows(_) => fixed(plan.children.head)
    case _                       => None
  }

  /**
   * Refuses operators that do not pass changes unchanged.
   *
   * @param summed whether sums are above, for which one row may become several
   */
  private def stays(plan: LogicalPlan, summed: Boolean = false): Unit = plan match {
    case _: ChangelogJoin =>
    case f: Filter =>
      belowStays(f, summed)
      f.condition.collectFirst(Function.unlift(kindAsValue)).foreach { kind =>
        throw ChangelogErrors.unsupportedChangelog(
          f.origin,
          s"df.na.drop counts the values of a row, and ${kind.name} always has one",
          "df.na.drop(subset=[...]), with columns of the rows"
        )
      }
      NondeterministicColumns.in(f.child).of(f.condition).foreach { what =>
        throw ChangelogErrors.unsupportedChangelog(
          f.origin,
          s"the filter ${ColumnNames.sql(f.condition)} on changes depends on $what, which " +
            "differs between batches. It could pass the insert of a row, and drop its delete",
          "a filter by columns of the rows"
        )
      }
    case u: Union =>
      for (reason <- UnitedChanges.misfit(u))
        throw ChangelogErrors.unsupportedChangelog(u.origin, reason, UnitedChanges.Instead)
      u.children.foreach(stays(_, summed))
    case _: Project | SameRows(_) | _: ToUpserts => belowStays(plan, summed)
    case e: Expand if summed && isOfGroups(e)    => belowStays(e, summed)
    case other if other.children.exists(ChangelogMarks.areChanges) =>
      throw ChangelogErrors.unsupportedChangelog(
        other.origin,
        s"${OperatorName.name(other)} above changes treats each as an append-only row, and may " +
          "turn them into other rows",
        s"${OperatorName.instead(other)}. Or run this operator in foreachBatch, on the changes " +
          "of one batch. Or query a table into which the changes are merged"
      )
    case _ =>
  }

  /** The row kind, if `df.na.drop` counts it among the values of a row. */
  private def kindAsValue(e: Expression): Option[Attribute] = e match {
    case AtLeastNNonNulls(_, values) =>
      ChangelogMarks.kind(values.collect { case a: Attribute => a })
    case _ => None
  }

  private def belowStays(plan: LogicalPlan, summed: Boolean): Unit =
    plan.children.filter(ChangelogMarks.changesWithin).foreach(stays(_, summed))

  /**
   * Whether Spark has added the node, for grouping sets such as ROLLUP or for overlapping windows.
   */
  private val Signed =
    "sum(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN x ELSE -x END), with 1 " +
      "for x to count"

  private def isOfGroups(e: Expand): Boolean =
    OperatorName.isWindow(e) || e.output.exists(_.name == VirtualColumn.groupingIdName)

  /**
   * Refuses aggregations of changes other than sums over the row kind, which decides the sign of a
   * row.
   */
  private def counts(a: Aggregate): Unit = {
    val kinds = RowKindColumns.of(a.child)
    if (kinds.isEmpty) {
      throw ChangelogErrors.changeTypeDropped(
        a.origin,
        "the aggregation",
        a.child.output.map(_.name)
      )
    }
    if (ToUpserts.isIn(a.child)) {
      throw ChangelogErrors.unsupportedChangelog(
        a.origin,
        "toUpserts is below the aggregation. It emits an update without its old image, which a " +
          "sum must subtract",
        "the aggregation on the changes themselves, without toUpserts"
      )
    }
    val sums = a.aggregateExpressions.flatMap(_.collect { case e: AggregateExpression => e })
    if (sums.isEmpty) {
      throw ChangelogErrors.unsupportedChangelog(
        a.origin,
        "an aggregation without a sum emits a group again when a row of it is deleted",
        s"$Signed as a column of the result. A group without rows has 0"
      )
    }
    val wrong = sums.find { e =>
      e.aggregateFunction match {
        case s: Sum => e.isDistinct || s.references.intersect(kinds).isEmpty
        case _      => true
      }
    }
    wrong.foreach { e =>
      throw ChangelogErrors.unsupportedChangelog(
        a.origin,
        s"${e.sql} counts a delete like an insert",
        Signed
      )
    }
    if (
      a.groupingExpressions.exists(_.references.exists(_.metadata.contains(SessionWindow.marker)))
    )
      throw ChangelogErrors.unsupportedChangelog(
        a.origin,
        "a row may extend or merge sessions, and the delete of the row does not undo this",
        "sums by window(...)"
      )
    val columns = NondeterministicColumns.in(a.child)
    val passing = NondeterministicColumns.filter(a.child).map(f => ColumnNames.sql(f.condition))
    for (what <- (a.groupingExpressions ++ sums).flatMap(columns.of).headOption.orElse(passing))
      throw ChangelogErrors.unsupportedChangelog(
        a.origin,
        s"the sums depend on $what, which differs between batches. A delete could subtract from " +
          "another group than its insert",
        "sums by columns of the rows, such as a time in each row"
      )
    stays(a.child, summed = true)
  }
}
