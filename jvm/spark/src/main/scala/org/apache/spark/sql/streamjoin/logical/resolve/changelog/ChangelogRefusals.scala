package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  CommonExpressionRef,
  Expression,
  PythonFuncExpression,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.errors.{
  ChangelogErrors,
  StreamJoinAnalysisException,
  StreamJoinErrors
}
import org.apache.spark.sql.streamjoin.logical.plan.{RowsElsewhere, SameRows}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ChangelogJoin, ImposeOrder, JoinNode}
import org.apache.spark.sql.streamjoin.logical.plan.options.JoinOptions
import org.apache.spark.sql.streamjoin.logical.times.{SameColumn, TimeColumns}
import org.apache.spark.sql.types.CalendarIntervalType

import io.streamjoin.model.Side

/**
 * Refuses joins of changelogs that violate one of two requirements:
 *
 *  - A change reaches the join with the row that was declared.
 *  - The condition has the same value for a pair as long as both rows exist.
 */
private[resolve] object ChangelogRefusals {

  /**
   * The error of a join with a changelog, or with an input that looks like one; none: it can run.
   */
  def of(join: Join, condition: Expression): Option[StreamJoinAnalysisException] =
    Side.both
      .zip(join.children)
      .flatMap { case (side, input) => new OfInput(join, side).refusal(input) }
      .headOption
      .orElse(ofCondition(join, condition))

  private final class OfInput(join: Join, side: Side) {

    def refusal(input: LogicalPlan): Option[StreamJoinAnalysisException] =
      if (!input.isStreaming)
        Some(StreamJoinErrors.staticInput(join.origin, side.name, input.output.map(_.name)))
      else if (ChangelogMarks.areChanges(input)) inexact(input).orElse(above(input))
      else if (ChangelogMarks.changesWithin(input)) Some(lost(input))
      else {
        Changelogs
          .undeclared(join, side, input)
          .map(_.error)
          .orElse(inexact(input))
          .orElse(input.collectFirst(Function.unlift(comesAgain(input))))
      }

    /**
     * The error of a column with the type INTERVAL. The bytes of a row identify it, and only in
     * this type some bytes are undefined: Spark reserves space for an interval that is NULL.
     */
    private def inexact(input: LogicalPlan): Option[StreamJoinAnalysisException] =
      input.output.find(_.dataType.existsRecursively(_ == CalendarIntervalType)).map { a =>
        unsupported(
          s"the column ${a.name} of the ${side.name} input has the type INTERVAL with months, " +
            "days and time, whose values cannot be compared",
          "an INTERVAL YEAR TO MONTH or an INTERVAL DAY TO SECOND (make_ym_interval, make_dt_interval), or its parts " +
            "as columns"
        )
      }

    /** The error of an input that has lost the row kind of the changes below. */
    private def lost(input: LogicalPlan): StreamJoinAnalysisException =
      input.collectFirst { case u: Union if u.children.exists(ChangelogMarks.areChanges) => u }
        .flatMap(UnitedChanges.misfit)
        .map(unsupported(_, UnitedChanges.Instead))
        .getOrElse(ChangelogErrors.changeTypeDropped(
          join.origin,
          s"the ${side.name} input",
          input.output.map(_.name)
        ))

    /** The error of an operator between the declaration of the changes and the join. */
    private def above(plan: LogicalPlan): Option[StreamJoinAnalysisException] = plan match {
      case p if Declaration.is(p) =>
        p match {
          case Project(_, child) if !ChangelogMarks.isKeyed(p.output) =>
            child.collectFirst(Function.unlift(unsteady))
          case _ => None
        }
      case _: Project | _: Filter | SameRows(_) | _: EventTimeWatermark | _: ImposeOrder =>
        unsteady(plan)
          .orElse(byKind(plan))
          .orElse(plan.children.flatMap(above).headOption)
      // the order of the changes in a batch has no meaning
      case RowsElsewhere(child) => above(child)
      case u: Union =>
        UnitedChanges.misfitBelow(u).map(unsupported(_, UnitedChanges.Instead))
          .orElse(u.children.flatMap(above).headOption)
      case other =>
        Some(unsupported(
          s"${OperatorName.name(other)} is between the changes of the ${side.name} input and " +
            "the join, and may turn them into other rows",
          s"${OperatorName.insteadBelow(other)}, or declare the changes above it"
        ))
    }

    /**
     * The error of a column or a filter that depends on change metadata. Both images of an update
     * must reach the join unchanged.
     */
    private def byKind(plan: LogicalPlan): Option[StreamJoinAnalysisException] = {
      val below = plan.children.flatMap(_.output)
      val kind = AttributeSet(ChangelogMarks.kind(below))
      def refused(e: Expression, name: String) = unsupported(
        s"${ColumnNames.sql(e)}, between the changes of the ${side.name} input and the join, depends on " +
          s"$name: the delete of a row could differ from its insert",
        s"the expression without that column, such as ${ChangelogErrors.NamedColumns}, or below the " +
          "declaration of the changelog"
      )
      val counted = !ChangelogMarks.isKeyed(below)
      def isOfChange(a: Attribute) = kind.contains(a) || counted && ChangelogMarks.isCommit(a)
      plan match {
        case Filter(condition, _) =>
          condition.references.find(kind.contains).orElse(condition.references.find(isOfChange))
            .map(a => refused(condition, a.name))
        case Project(list, _) =>
          val again = list.filter(_.references.exists(kind.contains)).lift(1)
          def computed = for {
            e <- list if SameColumn.unapply(e).isEmpty && !ChangelogMarks.isCommit(e.toAttribute)
            a <- e.references
            if isOfChange(a)
          } yield refused(e, a.name)
          again.map(refused(_, kind.head.name)).orElse(computed.headOption)
        case _ => None
      }
    }

    /** The error of a nondeterministic expression. A delete must have the values of its insert. */
    private def unsteady(plan: LogicalPlan): Option[StreamJoinAnalysisException] =
      plan.expressions
        .find(NondeterministicColumns.is)
        .map(e =>
          StreamJoinErrors.analysis(
            "NONDETERMINISTIC_CHANGE",
            join.origin,
            "side" -> side.name,
            "expression" -> ColumnNames.sql(e)
          )
        )

    /** The error of an operator that emits a row again after a change, or that emits late rows. */
    private def comesAgain(
        input: LogicalPlan
    )(plan: LogicalPlan): Option[StreamJoinAnalysisException] = plan match {
      case a @ (_: Aggregate | _: Distinct) if a.isStreaming =>
        Some(unsupported(
          s"an aggregation is below the ${side.name} input. It emits a row again after each change",
          "only selected columns and filters between the aggregation and the join. Or write its " +
            "result to a table or topic, and read that with fromUpserts"
        ))
      case j: JoinNode if j.late.nonEmpty =>
        Some(StreamJoinErrors.lateRowsBelow(join.origin, side.name, input.output))
      case _ => None
    }

    private def unsupported(reason: String, instead: String) =
      ChangelogErrors.unsupportedChangelog(join.origin, reason, instead)
  }

  private def ofCondition(
      join: Join,
      condition: Expression
  ): Option[StreamJoinAnalysisException] = {
    def unsupported(e: Expression, what: String, instead: String) =
      StreamJoinErrors.unsupportedCondition(join.origin, e, what, instead)
    val hidden =
      AttributeSet(join.children.flatMap(_.output).filter(ChangelogMarks.describesChange))
    val known = join.inputSet
    condition.references.find(a => hidden.contains(a) || !known.contains(a)).map { a =>
      unsupported(
        condition,
        s"the column ${a.name}, which describes a change and is not part of its row",
        "Write a filter below fromChangelog, or the condition without this column"
      )
    }.orElse(condition.collectFirst {
      case e @ (_: SubqueryExpression | _: PythonFuncExpression) =>
        unsupported(
          e,
          "a sub-query or a Python function",
          "Compute it as a column of one of the inputs"
        )
      case e
          if !e.isInstanceOf[CommonExpressionRef] &&
            (!e.deterministic || e.containsPattern(CURRENT_LIKE) &&
              !e.children.exists(_.containsPattern(CURRENT_LIKE))) =>
        unsupported(
          e,
          "a value that differs between batches, so the delete of a pair could differ from its " +
            "insert",
          "Write it as a constant, or store it as a column in the rows of an input"
        )
    })
  }
}

/**
 * Refuses `emit => 'early'` if the state of the join would grow without limit. An early result is
 * the result of an event-time join, emitted before it is final. So it requires the watermarks and
 * bounds of such a join.
 */
private[resolve] object EarlyResults {

  def refusal(join: ChangelogJoin, options: JoinOptions): Option[StreamJoinAnalysisException] = {
    val unbounded = Side.both.filter(s => join.leaving.columns(s).isEmpty && join.ttl(s).isEmpty)
    Option.when(options.emitsEarly && unbounded.nonEmpty) {
      val inputs = unbounded.map(_.name).mkString(" and the ")
      val example = bound(join).fold("")(b => s", for example $b")
      JoinOptions.refusal(
        s"emit => 'early' evicts rows by watermark, and no watermark evicts those of the $inputs input. Give " +
          "both inputs an event time with a watermark, and bound the two times against each other in the " +
          s"condition of the join (ON), in both directions$example. Bounds in a filter above the join count " +
          "only in SQL, in the WHERE of an inner join with ON or of a list of inputs. Or write " +
          "mode => 'changelog', which stores rows without a limit",
        "mode",
        "state_ttl"
      )(join.origin)
    }
  }

  /** Bounds in both directions, between event times of the two inputs that have one type. */
  private def bound(join: ChangelogJoin): Option[String] = {
    def times(side: Side) = for {
      a <- TimeColumns.watermarked(join.input(side)) if !TimeUnit.isWindow(a.dataType)
      name <- ColumnNames.among(join.children.flatMap(_.output), a)
      unit <- TimeUnit.of(a.dataType)
    } yield (unit, name)
    times(Side.Left).flatMap { case (unit, l) =>
      times(Side.Right).collect { case (`unit`, r) =>
        s"$r BETWEEN $l AND ${unit.moved(l, unit.example)}"
      }
    }.headOption
  }
}
