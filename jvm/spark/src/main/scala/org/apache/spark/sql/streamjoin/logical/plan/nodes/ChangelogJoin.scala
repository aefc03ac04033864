package org.apache.spark.sql.streamjoin.logical.plan.nodes

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeSet,
  Expression,
  PredicateHelper,
  Unevaluable
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.{EventTimeMarks, NamedTime}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.{AliasedColumn, EquiKey, JoinAnalysis}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.times.{DistinctAttributes, TimeColumns}
import org.apache.spark.sql.types.{BooleanType, DataType}

import io.streamjoin.join.changelog.EvictionRule
import io.streamjoin.model.{BySide, JoinType, Side}

/**
 * Logical node of the join of two changelogs.
 *
 * @param condition the whole condition
 * @param inputs the properties of the left and the right input
 * @param timed the event-time columns by which rows are evicted or expire; required even if the
 *   query does not read them
 * @param changes the output columns with change metadata: row kind, batch, and time of the batch
 * @param normalization set if it only adds the old images to the changes of one input
 * @param aliased the columns of the condition with their aliases in the query
 * @param isResult whether its changes are the result of the query, without a node above that
 *   consolidates them
 */
case class ChangelogJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    condition: Expression,
    inputs: Seq[ChangelogInput],
    timed: Seq[NamedTime],
    changes: Seq[Attribute],
    normalization: Option[Normalization],
    aliased: Seq[AliasedColumn] = Nil,
    isResult: Boolean = false
) extends JoinNode
    with PredicateHelper {

  override def kind: JoinKind = JoinKind.Changelog

  def normalizes: Boolean = normalization.nonEmpty

  /** Omits `aliased`, which repeats columns of the condition, and the position in the plan. */
  override protected def stringArgs: Iterator[Any] = productIterator.take(productArity - 2)

  /** The output column with the row kind. */
  def changeKind: Attribute = changes.head

  /** The properties of an input. */
  def of(side: Side): ChangelogInput = inputs(side.index)

  def key(side: Side): Seq[Attribute] = of(side).key
  def sequence(side: Side): Option[Attribute] = of(side).sequence
  def ttl(side: Side): Option[TimeToLive] = of(side).ttl

  /** The event time from which the TTL of a side counts; none: it counts from the last write. */
  def ttlTime(side: Side): Option[Attribute] = ttl(side).flatMap { _ =>
    times.find { a =>
      input(side).outputSet.contains(a) && TimeUnit.of(a.dataType).exists {
        case TimeUnit.Timestamp | TimeUnit.TimestampNtz => !TimeUnit.isWindow(a.dataType)
        case _                                          => false
      }
    }
  }

  /** The event times by which rows are evicted. Valid once resolved. */
  @transient lazy val leaving: EvictionRule =
    EvictionRule(analysis.bounds, alone = normalizes, evicts = normalization.forall(_.evicts))

  override def timeColumns: TimeColumns =
    if (!normalizes) analysis.output
    else {
      val ids = times.map(_.exprId).toSet
      val below = TimeColumns.of(left).among(output)
      below.copy(columns = below.columns.filter { case (id, _) => ids(id) })
    }

  override def output: Seq[Attribute] = {
    // the sequence is the only commit column here; rows of a table may have an old mark
    def isCommit(side: Side, a: Attribute) = !normalizes && ChangelogMarks.isCommit(a) &&
      sequence(side).exists(_.exprId == a.exprId)
    def data(side: Side) =
      input(side).output.filterNot(a => a == of(side).added || isCommit(side, a))
    emitted(BySide.of(data)).map(plain) ++ changes
  }

  /** Removes Spark's event-time marks. The watermarks of changes are in [[timeColumns]] alone. */
  private def plain(a: Attribute): Attribute = EventTimeMarks.unmarked(
    DistinctAttributes.unmarked(if (normalizes) a else ChangelogMarks.unmarked(a))
  )

  def equiKeys: Seq[EquiKey] =
    JoinAnalysis.equiKeys(conjuncts, left.outputSet, right.outputSet)

  def conjuncts: Seq[Expression] = splitConjunctivePredicates(condition)

  /** Whether the query declares the key of a side. */
  def hasDeclaredKey(side: Side): Boolean = key(side).nonEmpty && !of(side).inferred

  /** Whether a side has a unique key, and at most one row per join key. */
  def oneAKey(side: Side): Boolean = {
    val joinKeys = equiKeys.map(_.of(side))
    key(side).nonEmpty && key(side).forall(k => joinKeys.exists(_.semanticEquals(k)))
  }

  /** The columns that identify a row of the output; none: no columns do. */
  def outputKey: Option[Seq[Attribute]] = {
    def tells(side: Side) =
      key(side).nonEmpty && oneAKey(side.other) && !joinType.preserves(side.other)
    val (l, r) = (key(Side.Left), key(Side.Right))
    if (joinType.leftOnly) Option.when(l.nonEmpty)(l)
    else if (tells(Side.Left)) Some(l)
    else if (tells(Side.Right)) Some(r)
    else Option.when(l.nonEmpty && r.nonEmpty && !isMixed)(l ++ r)
  }

  /** Whether the output may contain the group of NULL of each input, both padded. */
  private def isMixed: Boolean = joinType == JoinType.FullOuter && inputs.forall(_.ofGroups)

  /**
   * The key of a table to which the output is merged; empty: none. It has no column that may be
   * padded.
   */
  def tableKey: Seq[Attribute] = {
    val there = AttributeSet(joinType.always.flatMap(input(_).output))
    if (normalizes) Nil else outputKey.filter(_.forall(there.contains)).getOrElse(Nil)
  }

  /**
   * The same for the state of a join above. If rows are evicted, or expire without a delete, a key
   * may occur again without a delete of its old row. In a table, the new row replaces the old one. A
   * join above would emit a retraction of the old one.
   */
  def lastingKey: Seq[Attribute] =
    if (leaving.exists || Side.both.exists(ttl(_).exists(!_.retracts))) Nil else tableKey

  /** The conjuncts that reference one side only. */
  def only(side: Side): Option[Expression] =
    JoinAnalysis.oneSided(conjuncts, input(side).outputSet).reduceOption(And(_, _))

  override def producedAttributes: AttributeSet = AttributeSet(changes)

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): ChangelogJoin = copy(left = newLeft, right = newRight)
}

/**
 * An input of a changelog join.
 *
 * It is an expression, so that Spark renames its columns together with those of the input.
 *
 * @param added the column that is true if a change adds its row, and false if it removes the row
 * @param key the unique key; empty: all columns identify a row, and equal rows are counted
 * @param inferred whether the key follows from a join below, see [[UniqueKey]]
 * @param ofGroups whether the key is the key of an aggregate, which may have a group of NULL
 * @param sequence orders the changes of one key
 * @param parts the expressions of the input above its source
 * @param ttl the time to live of a row
 */
private[streamjoin] final case class ChangelogInput(
    added: Attribute,
    key: Seq[Attribute],
    inferred: Boolean,
    ofGroups: Boolean,
    sequence: Option[Attribute],
    parts: Seq[InputPart],
    ttl: Option[TimeToLive] = None
) extends Expression
    with Unevaluable {

  override def children: Seq[Expression] = (added +: key) ++ sequence
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false

  override protected def withNewChildrenInternal(
      renamed: IndexedSeq[Expression]
  ): ChangelogInput = {
    val columns = renamed.map(_.asInstanceOf[Attribute])
    val (keys, sequences) = columns.tail.splitAt(key.length)
    copy(added = columns.head, key = keys, sequence = sequences.headOption)
  }
}

/**
 * The time to live of a stored row.
 *
 * @param micros its length, in microseconds
 * @param retracts whether the expiry of a row retracts its results
 */
private[streamjoin] final case class TimeToLive(micros: Long, retracts: Boolean = false)

/**
 * A node that only adds the old images to the changes of one input.
 *
 * @param evicts whether watermarks evict its rows, as they do in the join above
 */
private[streamjoin] final case class Normalization(evicts: Boolean)

/**
 * An expression of an input of a changelog join above its source. If it changed between the insert
 * of a row and its delete, the delete would not find the row. The session time zone may change it,
 * too.
 *
 * @param column the name of the column, since expression IDs differ in each plan; none: a filter
 * @param sql the expression, or the name of the column
 * @param zones the session time zones that it depends on
 * @param lasts whether its text is the same at each start of the query
 * @param reads the columns that it reads, in the order of the expression, each with the places of
 *   its sources
 */
private[streamjoin] final case class InputPart(
    column: Option[String],
    sql: String,
    zones: Set[String],
    lasts: Boolean,
    reads: Seq[(String, Set[Int])]
)
