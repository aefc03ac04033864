package org.apache.spark.sql.streamjoin.logical.resolve

import java.util.Locale

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Sum}
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.{WriteToStream, WriteToStreamStatement}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.{
  ChangelogJoin,
  ChangelogMarks,
  RowsElsewhere,
  SameRows,
  StreamJoin,
  ToUpserts
}

import io.streamjoin.model.Side

/** Refuses plans that would take changes for rows. */
private[streamjoin] object Changelogs extends (LogicalPlan => Unit) {

  /** An input of a join has a column that looks like the kinds of changes. */
  def undeclared(join: LogicalPlan, side: Side, input: LogicalPlan): Option[Refusal] = {
    val declared = ChangelogMarks.kind(input.output).filter(_ => ChangelogMarks.areChanges(input))
    input.output.find { a =>
      a.name.toLowerCase(Locale.ROOT) == ChangelogMarks.ChangeType &&
      !declared.exists(_.exprId == a.exprId)
    }.map(a => Refusal(ChangelogErrors.undeclaredChangelog(join.origin, side.name, a.name)))
  }

  /** A changelog, declared or not, below an event-time join. */
  def refusal(join: StreamJoin): Option[Refusal] =
    Side.both.zip(join.children).flatMap { case (side, input) =>
      refusal(join, side, input)
    }.headOption

  /** The same of one input of a join that takes rows for what stays. */
  def refusal(join: LogicalPlan, side: Side, input: LogicalPlan): Option[Refusal] =
    undeclared(join, side, input).orElse(
      Option.when(ChangelogMarks.changesWithin(input))(
        Refusal(
          ChangelogErrors.unsupportedChangelog(
            join.origin,
            s"the ${side.name} input has changes, and this join takes each row for one that stays",
            "streamJoin(..., mode=\"changelog\") with the column _change_type kept"
          )
        )
      )
    )

  /** A query that runs: the kind must reach the sink, or the sums above must count with it. */
  override def apply(plan: LogicalPlan): Unit = plan match {
    case w: WriteToStream =>
      val query = belowLastSteps(w.inputQuery)
      reaches(query)
      if (w.outputMode == OutputMode.Complete() && ChangelogMarks.areChanges(query)) {
        throw ChangelogErrors.unsupportedChangelog(
          query.origin,
          "in output mode complete a sink takes what a batch gives for the whole result, and this query gives changes",
          "the query in update mode, for a sink that takes changes"
        )
      }
      if (w.outputMode == OutputMode.Update()) w.inputQuery.foreach(fallsOut)
    case _ =>
  }

  /**
   * How rows lie in files, and how many there are, may be asked of changes as of any rows. Below a projection it would
   * part the join from the columns that tell what it has to net.
   */
  @tailrec
  private def belowLastSteps(plan: LogicalPlan): LogicalPlan = plan match {
    case RowsElsewhere(child) => belowLastSteps(child)
    case SameRows(child)      => belowLastSteps(child)
    case _                    => plan
  }

  /** Before Spark looks at the mode, in which it refuses all aggregations that have no watermark: what is wrong in any mode. */
  object BeforeMode extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = {
      plan match {
        case w: WriteToStreamStatement =>
          w.inputQuery.foreach {
            case a: Aggregate if ChangelogMarks.areChanges(a.child) => counts(a)
            case _                                                  =>
          }
        case _ =>
      }
      plan
    }
  }

  private def reaches(plan: LogicalPlan): Unit = plan match {
    case _ if !ChangelogMarks.changesWithin(plan) =>
    case _ if ChangelogMarks.areChanges(plan)     => stays(plan)
    case a: Aggregate                             => counts(a)
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

  /** Of sums in update mode, a filter keeps from the sink that a group fails it from now on. */
  private def fallsOut(plan: LogicalPlan): Unit = plan match {
    case Filter(condition, child) if fixed(child).exists(!condition.references.subsetOf(_)) =>
      throw ChangelogErrors.unsupportedChangelog(
        plan.origin,
        s"the filter ${ColumnNames.sql(condition)} on sums of changes does not tell of a group that it fails from now " +
          "on, so that what came out of it would stay",
        "the condition as a column of the result, by which the sink deletes"
      )
    case _ =>
  }

  /** Above an aggregation of changes, the columns that a group never changes. */
  private def fixed(plan: LogicalPlan): Option[AttributeSet] = plan match {
    case a: Aggregate =>
      Option.when(ToldKinds.of(a.child).nonEmpty)(AttributeSet(a.aggregateExpressions.collect {
        case e if !e.exists(_.isInstanceOf[AggregateExpression]) => e.toAttribute
      }))
    case Project(list, child) =>
      fixed(child).map(some =>
        AttributeSet(list.filter(_.references.subsetOf(some)).map(_.toAttribute))
      )
    case _: Filter | SameRows(_) => fixed(plan.children.head)
    case _                       => None
  }

  /** Operators that let changes through as they are. */
  private def stays(plan: LogicalPlan): Unit = plan match {
    case _: ChangelogJoin =>
    case Filter(condition, _)
        if !condition.deterministic || condition.containsPattern(CURRENT_LIKE) =>
      throw ChangelogErrors.unsupportedChangelog(
        plan.origin,
        s"the filter ${ColumnNames.sql(condition)} on changes differs from batch to batch, so that a row " +
          "that came in might not go",
        "a filter by columns of the rows"
      )
    case f: Filter if f.exists(_.isInstanceOf[Generate]) =>
      ExplodedChanges.filtered(f).foreach(throw _)
      belowStays(f)
    case g: Generate =>
      ExplodedChanges.refusal(g).foreach(throw _)
      stays(g.child)
    case u: Union =>
      for (reason <- UnitedChanges.misfit(u))
        throw ChangelogErrors.unsupportedChangelog(u.origin, reason, UnitedChanges.Instead)
      u.children.foreach(stays)
    case _: Project | _: Filter | SameRows(_) | _: ToUpserts => belowStays(plan)
    case other if other.children.exists(ChangelogMarks.areChanges) =>
      throw ChangelogErrors.unsupportedChangelog(
        other.origin,
        s"${called(other)} above changes takes each for a row that stays, and may make other rows of them",
        s"${instead(other)}; or it in foreachBatch, where the changes of a batch are rows as any; or " +
          "go on with a table that the changes were merged into"
      )
    case _ =>
  }

  private def belowStays(plan: LogicalPlan): Unit =
    plan.children.filter(ChangelogMarks.changesWithin).foreach(stays)

  /** An operator as the person wrote it. */
  def called(operator: LogicalPlan): String = operator match {
    case g: Generate => s"the generator ${ColumnNames.sql(g.generator)}"
    case other       => other.nodeName
  }

  /** What to write where an operator may not stand above changes. */
  def instead(operator: LogicalPlan): String = operator match {
    case _: Generate =>
      "it on the input below the declaration, with what it gives in the key or without a key"
    case RowsElsewhere(_) => "it last, above all else"
    case _                => "the projection or filter of columns only"
  }

  /** Sums are right where the kind says with which sign a row counts. */
  private def counts(a: Aggregate): Unit = {
    val kinds = ToldKinds.of(a.child)
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
        "toUpserts stands below the aggregation and gives an update without the image before it, which no sum would take off",
        "the aggregation on the changes themselves, without toUpserts"
      )
    }
    val wrong = a.aggregateExpressions.flatMap(_.collect { case e: AggregateExpression =>
      e
    }).find {
      e =>
        e.aggregateFunction match {
          case s: Sum => e.isDistinct || s.references.intersect(kinds).isEmpty
          case _      => true
        }
    }
    wrong.foreach { e =>
      throw ChangelogErrors.unsupportedChangelog(
        a.origin,
        s"${e.sql} counts a row that goes as one that comes",
        "sum(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN x ELSE -x END), with 1 " +
          "for x to count"
      )
    }
    stays(a.child match {
      // ROLLUP and the like make the same rows of one that goes as of one that comes
      case sets: Expand => sets.child
      case other        => other
    })
  }
}
