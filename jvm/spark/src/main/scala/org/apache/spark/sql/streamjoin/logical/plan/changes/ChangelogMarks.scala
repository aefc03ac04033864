package org.apache.spark.sql.streamjoin.logical.plan.changes

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/**
 * Properties of a changelog, stored in the metadata of its columns, which Spark propagates.
 *
 * {{{
 *   column of the kinds   Kind: number of columns of the unique key
 *   key columns           Key: position in the key; Group: key of an aggregate, may be NULL
 *   sequence              Sequence
 *   commit columns        Commit: not part of the row identity
 * }}}
 */
private[streamjoin] object ChangelogMarks {

  /** The names of Spark's change feeds. */
  val ChangeType = "_change_type"
  val CommitVersion = "_commit_version"
  val CommitTimestamp = "_commit_timestamp"

  /** Whether a column has one of these names, in any case. */
  def isName(column: String): Boolean = names(column.toLowerCase(Locale.ROOT))

  private val names = Set(ChangeType, CommitVersion, CommitTimestamp)

  val Kind = "streamjoin.changelog"
  val Key = "streamjoin.changelog.key"
  val Group = "streamjoin.changelog.group"
  val Sequence = "streamjoin.changelog.sequence"
  val Commit = "streamjoin.changelog.commit"

  private val all = Seq(Kind, Key, Group, Sequence, Commit)

  /** The column with the row kind. */
  def kind(columns: Seq[Attribute]): Option[Attribute] = columns.find(_.metadata.contains(Kind))

  /**
   * The column with the row kind of a plan whose rows are changes. Spark writes metadata with the
   * rows, so marks from a table or from the batch of a sink declare nothing.
   */
  def kind(plan: LogicalPlan): Option[Attribute] =
    if (!plan.isStreaming) None
    else
      kind(plan.output).filterNot { k =>
        plan.collectLeaves().exists(_.output.exists(_.exprId == k.exprId))
      }

  /** Whether the rows of a plan are changes. */
  def areChanges(plan: LogicalPlan): Boolean = kind(plan).nonEmpty

  /**
   * Whether the rows of a plan, or of a plan below it, are changes. Joins that emit final rows for
   * changes end the search.
   */
  def changesWithin(plan: LogicalPlan): Boolean =
    plan.resolved && areChanges(plan) || (plan match {
      case EndsChanges() => false
      case _             => plan.children.exists(changesWithin)
    })

  def isCommit(a: Attribute): Boolean = a.metadata.contains(Commit)

  /** Whether a column has change metadata rather than row data. */
  def describesChange(a: Attribute): Boolean = a.metadata.contains(Kind) || isCommit(a)

  /** Whether a changelog is declared with a unique key. */
  def isKeyed(columns: Seq[Attribute]): Boolean = keySize(columns) > 0

  private def keySize(columns: Seq[Attribute]): Long =
    kind(columns).fold(0L)(_.metadata.getLong(Kind))

  /** The unique key; empty if a column of it is missing. */
  def key(columns: Seq[Attribute]): Seq[Attribute] = {
    val found = columns.filter(_.metadata.contains(Key)).sortBy(_.metadata.getLong(Key))
    if (found.map(_.metadata.getLong(Key)) == (0L until keySize(columns))) found else Nil
  }

  /** Whether NULL is a value of the key like any other. */
  def isOfGroups(key: Seq[Attribute]): Boolean = key.exists(_.metadata.contains(Group))

  def sequence(columns: Seq[Attribute]): Option[Attribute] =
    columns.find(_.metadata.contains(Sequence))

  /** The columns with marks. */
  def marked(columns: Seq[Attribute]): Seq[Attribute] = columns.filter(isMarked)

  def isMarked(a: Attribute): Boolean = all.exists(a.metadata.contains)

  /** Removes marks that were written with the rows: they declare nothing. */
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

  /**
   * The column of a changelog without a key, in which all columns identify a row, and equal rows
   * are counted.
   */
  def counted(a: Attribute): Attribute =
    if (Seq(Kind, Key, Sequence).exists(a.metadata.contains)) {
      val builder =
        new MetadataBuilder().withMetadata(a.metadata).remove(Key).remove(Group).remove(Sequence)
      if (a.metadata.contains(Kind)) builder.putLong(Kind, 0L)
      a.withMetadata(builder.build())
    } else a

  /** Whether two columns have the same marks. */
  def sameMarks(a: Attribute, b: Attribute): Boolean = of(a) == of(b)

  private def of(a: Attribute): Seq[Option[Long]] =
    all.map(mark => Option.when(a.metadata.contains(mark))(a.metadata.getLong(mark)))

  /** The column without marks. */
  def unmarked(a: Attribute): Attribute =
    if (isMarked(a)) {
      val builder = new MetadataBuilder().withMetadata(a.metadata)
      all.foreach(builder.remove)
      a.withMetadata(builder.build())
    } else a
}

/** Logical node that may read a changelog although its output rows are final. */
private[streamjoin] trait EndsChanges { this: LogicalPlan =>

  /** Whether an input is a changelog. */
  def readsChanges: Boolean
}

/** Extractor of nodes that read a changelog and emit final rows. */
private[streamjoin] object EndsChanges {
  def unapply(plan: LogicalPlan): Boolean = plan match {
    case node: EndsChanges => node.readsChanges
    case _                 => false
  }
}
