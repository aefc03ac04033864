package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeReference,
  Expression,
  Literal
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.logical.plan.NamedTime
import org.apache.spark.sql.streamjoin.logical.plan.analysis.AliasedColumn
import org.apache.spark.sql.streamjoin.logical.plan.changes.{ChangeKindOf, ChangelogMarks}
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{
  ChangelogInput,
  ChangelogJoin,
  Normalization,
  TimeToLive,
  UniqueKey
}
import org.apache.spark.sql.streamjoin.logical.resolve.shared.ZonedInput
import org.apache.spark.sql.streamjoin.logical.times.TimeColumns
import org.apache.spark.sql.types.{DataType, LongType, MetadataBuilder, StringType, TimestampType}

import io.streamjoin.model.{BySide, JoinType}

/** Builds a [[ChangelogJoin]] from inputs whose changes have marks. */
private[resolve] object ChangelogDraft {

  /**
   * @param ttl the time to live of the rows of each input
   * @param timed selects the event times by which rows are evicted or expire
   * @param normalization set if it only adds the old images to the changes of one input, see
   *   [[LatestVersions]]
   */
  def of(
      left: LogicalPlan,
      right: LogicalPlan,
      joinType: JoinType,
      condition: Expression,
      ttl: BySide[Option[TimeToLive]],
      timed: Attribute => Boolean = _ => true,
      normalization: Option[Normalization] = None
  ): ChangelogJoin = {
    // nodes above a normalization may read commit columns
    val commits = normalization.nonEmpty
    val (l, r) = (arriving(left, commits), arriving(right, commits))
    val (x, y) = (ZonedInput.joined(l), ZonedInput.joined(r))
    val times = Seq(x, y).flatMap(TimeColumns.watermarked).filter(timed)
    ChangelogJoin(
      x,
      y,
      joinType,
      condition,
      Seq(described(left, l.output.last, ttl.left), described(right, r.output.last, ttl.right)),
      times.map(NamedTime.of(_, x, y)),
      Seq(
        column(ChangelogMarks.ChangeType, StringType, ChangelogMarks.Kind, 0L),
        column(ChangelogMarks.CommitVersion, LongType, ChangelogMarks.Commit, 1L),
        column(ChangelogMarks.CommitTimestamp, TimestampType, ChangelogMarks.Commit, 1L)
      ),
      normalization,
      AliasedColumn.of(condition.references, left, right)
    )
  }

  private def described(
      input: LogicalPlan,
      added: Attribute,
      ttl: Option[TimeToLive]
  ): ChangelogInput =
    ChangelogInput(
      added,
      UniqueKey.of(input),
      UniqueKey.fromBelow(input).nonEmpty,
      UniqueKey.isOfGroups(input),
      sequence(input),
      InputParts.of(arriving(input, commits = false), ChangelogMarks.areChanges(input)),
      ttl
    )

  private def sequence(input: LogicalPlan): Option[Attribute] =
    if (ChangelogMarks.key(input.output).isEmpty) None else ChangelogMarks.sequence(input.output)

  /** A column of the output with a mark. */
  private def column(name: String, dataType: DataType, mark: String, value: Long): Attribute = {
    val metadata = new MetadataBuilder().putLong(mark, value).build()
    AttributeReference(name, dataType, nullable = false, metadata)()
  }

  /**
   * An input of the join: its data columns, its sequence, and whether a change adds its row.
   *
   * @param commits whether it also has the commit columns
   */
  private def arriving(input: LogicalPlan, commits: Boolean): LogicalPlan = {
    val kind = ChangelogMarks.kind(input.output)
    val sequence = this.sequence(input)
    val columns = input.output.filterNot { a =>
      kind.exists(_.exprId == a.exprId) ||
      !commits && ChangelogMarks.isCommit(a) && !sequence.exists(_.exprId == a.exprId)
    }
    Project(
      columns :+ Alias(kind.fold[Expression](Literal.TrueLiteral)(ChangeKindOf.comes), "_added")(),
      input
    )
  }
}
