package org.apache.spark.sql.streamjoin.logical.resolve.eventtime

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Distinct, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.streamjoin.conditions.PlainCondition
import org.apache.spark.sql.streamjoin.errors.StreamJoinErrors
import org.apache.spark.sql.streamjoin.logical.optimize.InputFilters
import org.apache.spark.sql.streamjoin.logical.plan.{NamedTime, Tagged}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.AliasedColumn
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  JoinKind,
  JoinNode,
  StreamJoin,
  StreamJoinHint
}
import org.apache.spark.sql.streamjoin.logical.plan.options.{JoinOptions, JoinTypes, LateRows}
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.Changelogs
import org.apache.spark.sql.streamjoin.logical.resolve.refusals.JoinRefusals
import org.apache.spark.sql.streamjoin.logical.resolve.shared.{LateRowsBelow, Refusal, ZonedInput}
import org.apache.spark.sql.streamjoin.logical.times.{SparksJoin, TimeColumns}

import io.streamjoin.model.BySide

/** Builds a [[StreamJoin]] for a join that Spark has resolved, or refuses it. */
private[streamjoin] object StreamJoinBuilder {

  /**
   * Builds the join. It also replaces joins of Spark's below that have unbounded state, since their
   * output could have rows of any age.
   *
   * @param retained whether a retention may replace missing bounds of the condition
   * @param late the late rows that the join emits, without those of joins below
   */
  def build(
      join: Join,
      retained: Boolean = true,
      late: Option[LateRows] = None
  ): Either[Refusal, StreamJoin] = CurrentOrigin.withOrigin(join.origin) {
    for {
      _ <- WindowsOfInputs.misplaced(join).toLeft(())
      _ <- JoinKind.EventTime.misfit(join).map(Refusal(_)).toLeft(())
      joinType <- JoinTypes.of(join.joinType).toRight(
        Refusal(StreamJoinErrors.unsupportedJoinType(join.origin, join.joinType.sql))
      )
      plain = StreamJoinHint.removed(join)
      l <- bounded(plain.left)
      r <- bounded(plain.right)
      BySide(left, right) = ZonedInput.joined(BySide(l, r))
      times = Seq(left, right).flatMap(TimeColumns.watermarked)
      condition = PlainCondition.of(join.condition.getOrElse(Literal.TrueLiteral))
      written = StreamJoin(
        left,
        right,
        joinType,
        condition,
        times.map(NamedTime.of(_, left, right)),
        StreamJoinHint.options(join).getOrElse(JoinOptions()),
        late.map(_.copy(below = Seq(left, right).flatMap(LateRowsBelow.columns))),
        AliasedColumn.of(condition.references ++ AttributeSet(times), left, right)
      )
      built = Tagged(join)(if (retained) Retention.limit(written) else written)
      _ <- Changelogs
        .refusal(built)
        .orElse(LateRowsBelow.refusal(built))
        .orElse(JoinRefusals.of(built))
        .toLeft(())
    } yield Tagged(built)(InputFilters.place(built))
  }

  /**
   * Replaces joins of Spark's with unbounded state.
   *
   * @param behindStateful whether to continue below an aggregation, which drops late rows by
   *   Spark's watermark
   */
  def bounded(
      plan: LogicalPlan,
      behindStateful: Boolean = false
  ): Either[Refusal, LogicalPlan] = plan match {
    case SparksJoin(j) if JoinKind.of(j).contains(JoinKind.EventTime) && !SparksJoin.isBounded(j) =>
      build(j, retained = false).left.map(_.copy(ofBelow = true))
    case j: JoinNode if j.kind.byEventTime             => Right(plan)
    case _: Aggregate | _: Distinct if !behindStateful => Right(plan)
    case _ =>
      plan.children
        .foldLeft[Either[Refusal, Seq[LogicalPlan]]](Right(Nil)) { (done, child) =>
          done.flatMap(some => bounded(child, behindStateful).map(some :+ _))
        }
        .map(plan.withNewChildren)
  }
}
