package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeReference,
  Expression,
  Literal
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.logical.plan.{
  AliasedColumn,
  ChangeKindOf,
  ChangelogJoin,
  ChangelogMarks,
  UniqueKey
}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.ZonedInput
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns
import org.apache.spark.sql.types.{LongType, MetadataBuilder, StringType, TimestampType}

import io.streamjoin.model.{JoinType, Side}

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
    def sequenceOf(plan: LogicalPlan) =
      if (ChangelogMarks.key(plan.output).isEmpty) None else ChangelogMarks.sequence(plan.output)
    def sidesOf(which: LogicalPlan => Boolean) =
      Side.both.zip(Seq(left, right)).collect { case (side, input) if which(input) => side }.toSet
    ChangelogJoin(
      ZonedInput.joined(l),
      ZonedInput.joined(r),
      joinType,
      condition,
      Seq(l.output.last, r.output.last),
      UniqueKey.of(left),
      UniqueKey.of(right),
      sequenceOf(left),
      sequenceOf(right),
      None,
      None,
      Nil,
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
      InputParts.of(l, ChangelogMarks.areChanges(left)),
      InputParts.of(r, ChangelogMarks.areChanges(right)),
      normalizes,
      sidesOf(UniqueKey.fromBelow(_).nonEmpty),
      AliasedColumn.of(condition.references, left, right),
      ofGroups = sidesOf(UniqueKey.isOfGroups)
    )
  }

  private def commit(a: Attribute): Attribute =
    a.withMetadata(new MetadataBuilder().putLong(ChangelogMarks.Commit, 1L).build())

  /** An input of the join: its data columns, its sequence, and whether a change adds its row. */
  private def arriving(input: LogicalPlan): LogicalPlan = {
    val kind = ChangelogMarks.kind(input.output)
    val sequence =
      if (ChangelogMarks.key(input.output).isEmpty) None
      else ChangelogMarks.sequence(input.output)
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
    j.copy(
      times = times,
      names = times.map { a =>
        val side = if (j.left.outputSet.contains(a)) Side.Left else Side.Right
        ColumnNames.among(j.children.flatMap(_.output), a)
          .getOrElse(s"${side.name}.${ColumnNames.of(a)}")
      }
    )
  }
}
