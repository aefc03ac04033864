package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeSet,
  Expression,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.times.{DistinctAttributes, TimeColumns}

import io.streamjoin.join.changelog.Leaving
import io.streamjoin.model.{BySide, JoinType, Side}

/**
 * The join of two changelogs.
 *
 * @param condition the whole condition
 * @param added for each side, the column that says whether a row is there from now on, or no more; the
 *   first of the left
 * @param leftKey the unique key of the left input; empty: rows are told apart by all columns, and counted
 * @param leftSequence which of two changes of one key is later
 * @param leftTtl for how long a row of the left is kept after it was written, in microseconds
 * @param times the event-time columns by which rows leave, or by which their age counts; kept even where
 *   nobody above asks for them
 * @param names what the person calls each of `times`
 * @param changes the columns that say what became of a row: kind, batch and time of the batch
 * @param leftParts what the left input is made of, above its source
 * @param normalizes whether it only gives the changes of one input with both images, see
 *   [[org.apache.spark.sql.streamjoin.logical.resolve.changelog.ChangelogBuilder]]
 * @param keysFromBelow of which inputs the key follows from a join below, see [[UniqueKey]]
 * @param aliased the columns of the condition under the aliases that the person gave
 * @param isResult whether its changes are those of the query, with nothing above that nets them
 * @param ofGroups the sides whose key is that of groups, of which one may be that of NULL
 */
case class ChangelogJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    condition: Expression,
    added: Seq[Attribute],
    leftKey: Seq[Attribute],
    rightKey: Seq[Attribute],
    leftSequence: Option[Attribute],
    rightSequence: Option[Attribute],
    leftTtl: Option[Long],
    rightTtl: Option[Long],
    times: Seq[Attribute],
    names: Seq[String],
    changes: Seq[Attribute],
    leftParts: Seq[InputPart],
    rightParts: Seq[InputPart],
    normalizes: Boolean,
    keysFromBelow: Set[Side],
    aliased: Seq[AliasedColumn] = Nil,
    isResult: Boolean = false,
    ofGroups: Set[Side] = Set.empty
) extends JoinNode
    with PredicateHelper {

  override def kind: JoinKind = JoinKind.Changelog

  /** Without `aliased`, which stand in the condition, and what follows from its place. */
  override protected def stringArgs: Iterator[Any] = productIterator.take(productArity - 3)

  /** The same join whose changes are those of the query, or are netted above it. */
  def asResult(result: Boolean): ChangelogJoin = {
    val made = copy(isResult = result)
    made.copyTagsFrom(this)
    made
  }

  def key(side: Side): Seq[Attribute] = if (side == Side.Left) leftKey else rightKey

  def sequence(side: Side): Option[Attribute] =
    if (side == Side.Left) leftSequence else rightSequence

  def ttl(side: Side): Option[Long] = if (side == Side.Left) leftTtl else rightTtl

  def parts(side: Side): Seq[InputPart] = if (side == Side.Left) leftParts else rightParts

  /** The time by which the age of a side's rows counts; none: by when they were written. */
  def ttlTime(side: Side): Option[Attribute] = ttl(side).flatMap { _ =>
    times.find { a =>
      input(side).outputSet.contains(a) && TimeUnit.of(a.dataType).exists {
        case TimeUnit.Timestamp | TimeUnit.TimestampNtz => !TimeUnit.isWindow(a.dataType)
        case _                                          => false
      }
    }
  }

  /** By which of the times rows leave. Valid once resolved. */
  @transient lazy val leaving: Leaving = new Leaving(analysis.bounds, alone = normalizes)

  override def timeColumns: TimeColumns =
    if (!normalizes) analysis.output
    else {
      val ids = times.map(_.exprId).toSet
      val below = TimeColumns.of(left).among(output)
      below.copy(columns = below.columns.filter { case (id, _) => ids(id) })
    }

  override def output: Seq[Attribute] = {
    // of the commit columns none comes so far but the sequence; rows of a table may have brought their mark along
    def isCommit(side: Side, a: Attribute) = !normalizes && ChangelogMarks.isCommit(a) &&
      sequence(side).exists(_.exprId == a.exprId)
    def data(side: Side) =
      input(side).output.filterNot(a => added.contains(a) || isCommit(side, a))
    emitted(BySide.of(data)).map(plain) ++ changes
  }

  /** Spark knows nothing of the times of changes: their watermarks are [[timeColumns]]. */
  private def plain(a: Attribute): Attribute = EventTimeMarks.unmarked(
    DistinctAttributes.unmarked(if (normalizes) a else ChangelogMarks.unmarked(a))
  )

  def equiKeys: Seq[EquiKey] =
    JoinAnalysis.equiKeys(conjuncts, left.outputSet, right.outputSet)

  def conjuncts: Seq[Expression] = splitConjunctivePredicates(condition)

  /** Whether somebody has declared the key of a side. */
  def hasDeclaredKey(side: Side): Boolean = key(side).nonEmpty && !keysFromBelow(side)

  /** Whether a side has a unique key, and at most one row of each join key. */
  def oneAKey(side: Side): Boolean = {
    val joinKeys = equiKeys.map(_.of(side))
    key(side).nonEmpty && key(side).forall(k => joinKeys.exists(_.semanticEquals(k)))
  }

  /** By which columns rows of the output are told apart; none: there are no such. */
  def outputKey: Option[Seq[Attribute]] = {
    def tells(side: Side) =
      key(side).nonEmpty && oneAKey(side.other) && !joinType.preserves(side.other)
    if (joinType.leftOnly) Option.when(leftKey.nonEmpty)(leftKey)
    else if (tells(Side.Left)) Some(leftKey)
    else if (tells(Side.Right)) Some(rightKey)
    else Option.when(leftKey.nonEmpty && rightKey.nonEmpty && !isMixed)(leftKey ++ rightKey)
  }

  /** Whether a row of each input may come out padded that is the group of NULL. */
  private def isMixed: Boolean = joinType == JoinType.FullOuter && Side.both.forall(ofGroups)

  /**
   * The same for a join above; empty: there is none for it. A column of it that may be padded is no part of a key, and
   * where rows leave the state, a key may come again without its old row having gone.
   */
  def lastingKey: Seq[Attribute] = {
    val stays = !normalizes && !leaving.exists && Side.both.forall(ttl(_).isEmpty)
    val there = AttributeSet(joinType.always.flatMap(input(_).output))
    if (stays) outputKey.filter(_.forall(there.contains)).getOrElse(Nil) else Nil
  }

  /** What of the condition concerns one side alone. */
  def only(side: Side): Option[Expression] =
    JoinAnalysis.oneSided(conjuncts, input(side).outputSet).reduceOption(And(_, _))

  override def producedAttributes: AttributeSet = AttributeSet(changes)

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): ChangelogJoin = copy(left = newLeft, right = newRight)
}
