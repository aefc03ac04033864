package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/**
 * What is known of a changelog, kept where Spark takes it along by itself: in the metadata of its columns.
 *
 * {{{
 *   column of the kinds   Kind: of how many columns the unique key is
 *   key columns           Key: their place in the key; Group: it is that of groups, of which one may be that of NULL
 *   sequence              Sequence
 *   commit columns        Commit: no part of a row's identity
 * }}}
 */
private[streamjoin] object ChangelogMarks {

  /** The words of Spark's change feeds. */
  val ChangeType = "_change_type"
  val CommitVersion = "_commit_version"
  val CommitTimestamp = "_commit_timestamp"

  val Kind = "streamjoin.changelog"
  val Key = "streamjoin.changelog.key"
  val Group = "streamjoin.changelog.group"
  val Sequence = "streamjoin.changelog.sequence"
  val Commit = "streamjoin.changelog.commit"

  private val all = Seq(Kind, Key, Group, Sequence, Commit)

  /** The column that says which kind of change a row is. */
  def kind(columns: Seq[Attribute]): Option[Attribute] = columns.find(_.metadata.contains(Kind))

  /**
   * Whether the rows of a plan are changes. Marks also go where rows are written: what a table or the
   * batch of a sink has from there declares nothing.
   */
  def areChanges(plan: LogicalPlan): Boolean =
    plan.isStreaming && kind(plan.output).exists { k =>
      !plan.collectLeaves().exists(_.output.exists(_.exprId == k.exprId))
    }

  /** Whether those of a plan below are, or its own. */
  def changesWithin(plan: LogicalPlan): Boolean = plan.exists(p => p.resolved && areChanges(p))

  def isCommit(a: Attribute): Boolean = a.metadata.contains(Commit)

  /** How many columns the unique key has; 0: there is none. */
  def keySize(kind: Attribute): Int = kind.metadata.getLong(Kind).toInt

  /** The unique key, where all its columns are still there. */
  def key(columns: Seq[Attribute]): Seq[Attribute] = {
    val found = columns.filter(_.metadata.contains(Key)).sortBy(_.metadata.getLong(Key))
    val wanted = kind(columns).fold(0)(keySize)
    if (found.map(_.metadata.getLong(Key)) == (0L until wanted.toLong)) found else Nil
  }

  /** Whether NULL is a key as any other. */
  def isOfGroups(key: Seq[Attribute]): Boolean = key.exists(_.metadata.contains(Group))

  def sequence(columns: Seq[Attribute]): Option[Attribute] =
    columns.find(_.metadata.contains(Sequence))

  /** What tells of changes among the columns. */
  def marked(columns: Seq[Attribute]): Seq[Attribute] = columns.filter(isMarked)

  def isMarked(a: Attribute): Boolean = all.exists(a.metadata.contains)

  /** Without the marks that rows have brought from where changes were written: they declare nothing. */
  def withoutStale(plan: LogicalPlan): LogicalPlan =
    if (areChanges(plan) || marked(plan.output).isEmpty) plan
    else Project(plan.output.map(unmarked), plan)

  /** The expression under a name, with marks. */
  def marked(
      e: Expression,
      name: String,
      qualifier: Seq[String],
      metadata: Metadata,
      marks: (String, Long)*
  ): Alias = {
    val builder = new MetadataBuilder().withMetadata(metadata)
    marks.foreach { case (mark, value) => builder.putLong(mark, value) }
    Alias(e, name)(qualifier = qualifier, explicitMetadata = Some(builder.build()))
  }

  def marked(a: Attribute, marks: (String, Long)*): NamedExpression =
    if (marks.isEmpty) a else marked(a, a.name, a.qualifier, a.metadata, marks: _*)

  /** The column as one of changes that are told apart by all columns, and counted. */
  def counted(a: Attribute): Attribute =
    if (Seq(Kind, Key, Sequence).exists(a.metadata.contains)) {
      val builder =
        new MetadataBuilder().withMetadata(a.metadata).remove(Key).remove(Group).remove(Sequence)
      if (a.metadata.contains(Kind)) builder.putLong(Kind, 0L)
      a.withMetadata(builder.build())
    } else a

  /** Whether two columns tell the same of changes. */
  def sameMarks(a: Attribute, b: Attribute): Boolean = of(a) == of(b)

  private def of(a: Attribute): Seq[Option[Long]] =
    all.map(mark => Option.when(a.metadata.contains(mark))(a.metadata.getLong(mark)))

  /** The column as one of no changelog. */
  def unmarked(a: Attribute): Attribute =
    if (isMarked(a)) {
      val builder = new MetadataBuilder().withMetadata(a.metadata)
      all.foreach(builder.remove)
      a.withMetadata(builder.build())
    } else a
}
