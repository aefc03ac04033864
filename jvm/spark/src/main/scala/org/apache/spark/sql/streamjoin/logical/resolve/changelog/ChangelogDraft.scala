package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeReference,
  Expression,
  Literal
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.{
  AliasedColumn,
  ChangeKindOf,
  ChangelogInput,
  ChangelogJoin,
  ChangelogMarks,
  NamedTime,
  UniqueKey
}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.ZonedInput
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns
import org.apache.spark.sql.types.{LongType, MetadataBuilder, StringType, TimestampType}

import io.streamjoin.model.JoinType

/** Builds a [[ChangelogJoin]] from inputs whose changes have marks. */
private[resolve] object ChangelogDraft {

  /**
   * @param normalizes whether it only adds the old images to the changes of one input, see
   *   [[LatestVersions]]
   */
  def of(
      left: LogicalPlan,
      right: LogicalPlan,
      joinType: JoinType,
      condition: Expression,
      normalizes: Boolean = false
  ): ChangelogJoin = {
    val (l, r) = (arriving(left), arriving(right))
    ChangelogJoin(
      ZonedInput.joined(l),
      ZonedInput.joined(r),
      joinType,
      condition,
      Seq(described(left, l), described(right, r)),
      Nil,
      Seq(
        AttributeReference(
          ChangelogMarks.ChangeType,
          StringType,
          nullable = false,
          new MetadataBuilder().putLong(ChangelogMarks.Kind, 0L).build()
        )(),
        commit(AttributeReference(ChangelogMarks.CommitVersion, LongType, nullable = false)()),
        commit(AttributeReference(
          ChangelogMarks.CommitTimestamp,
          TimestampType,
          nullable = false
        )())
      ),
      normalizes,
      AliasedColumn.of(condition.references, left, right)
    )
  }

  /** @param arriving the input with the flag of inserts as its last column */
  private def described(input: LogicalPlan, arriving: LogicalPlan): ChangelogInput =
    ChangelogInput(
      arriving.output.last,
      UniqueKey.of(input),
      UniqueKey.fromBelow(input).nonEmpty,
      UniqueKey.isOfGroups(input),
      sequence(input),
      InputParts.of(arriving, ChangelogMarks.areChanges(input))
    )

  private def sequence(input: LogicalPlan): Option[Attribute] =
    if (ChangelogMarks.key(input.output).isEmpty) None else ChangelogMarks.sequence(input.output)

  private def commit(a: Attribute): Attribute =
    a.withMetadata(new MetadataBuilder().putLong(ChangelogMarks.Commit, 1L).build())

  /** An input of the join: its data columns, its sequence, and whether a change adds its row. */
  private def arriving(input: LogicalPlan): LogicalPlan = {
    val kind = ChangelogMarks.kind(input.output)
    val sequence = this.sequence(input)
    val columns = input.output.filterNot { a =>
      kind.exists(_.exprId == a.exprId) ||
      ChangelogMarks.isCommit(a) && !sequence.exists(_.exprId == a.exprId)
    }
    Project(
      columns :+ Alias(kind.fold[Expression](Literal.TrueLiteral)(ChangeKindOf.comes), "_added")(),
      input
    )
  }

  /**
   * Adds the event times of the inputs and their display names.
   *
   * @param wanted selects the event times
   */
  def withTimes(
      j: ChangelogJoin,
      wanted: Attribute => Boolean = _ => true
  ): ChangelogJoin = {
    val times = j.children.flatMap { p =>
      val own = TimeColumns.of(p)
      p.output.filter(a => own.isWatermarked(a) && wanted(a))
    }
    j.copy(timed = times.map(NamedTime.of(_, j.left, j.right)))
  }
}
