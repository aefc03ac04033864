package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.logical.plan.analysis.EquiKey
import org.apache.spark.sql.streamjoin.logical.plan.nodes.InputPart
import org.apache.spark.sql.streamjoin.physical.consolidate.PackedUpdate
import org.apache.spark.sql.streamjoin.physical.stateful.shown.Explanation
import org.apache.spark.sql.streamjoin.physical.stateful.times.JoinTimes
import org.apache.spark.sql.types.{BooleanType, LongType, StructType}

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.join.changelog.EvictionRule
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing

/**
 * The join type and the condition of a changelog join.
 *
 * @param condition the whole condition, including `equiKeys`
 */
private[changelog] final case class JoinedOn(
    joinType: JoinType,
    equiKeys: Seq[EquiKey],
    condition: Expression
)

/** What a changelog operator does with its inputs. */
private[changelog] sealed trait ChangelogMode
private[changelog] object ChangelogMode {
  case object Join extends ChangelogMode

  /**
   * An inner join of append-only inputs without keys, see
   * [[io.streamjoin.join.changelog.AppendOnlyJoin]]. Its inputs have no column with the flag.
   */
  case object AppendOnly extends ChangelogMode

  /**
   * Only the latest version of each key of the left input is stored: no row of the other joins.
   *
   * @param evicts whether watermarks evict rows
   */
  final case class Normalize(evicts: Boolean) extends ChangelogMode
}

/**
 * The output of a changelog join.
 *
 * @param columns the required columns, in their order
 * @param changes the columns of change metadata
 * @param key the columns that identify an output row; empty: there are none, or not all are
 *   required
 * @param rows the condition of the required rows; none: all rows
 */
private[changelog] final case class ChangelogColumns(
    columns: Seq[Attribute],
    changes: Seq[Attribute],
    key: Seq[Attribute],
    rows: Option[Expression]
)

/**
 * The plans below a changelog join, as far as stored rows depend on them.
 *
 * @param parts filters and computed columns above the sources, if they are required
 * @param filters conjuncts of `rows` on one input. Once a checkpoint is known, only those that its
 *   stored rows passed
 */
private[changelog] final case class ChangelogInputs(
    parts: Seq[(Side, InputPart)],
    filters: Seq[InputFilter]
)

/**
 * Text of `explain` about a changelog join.
 *
 * @param aliases the aliases of the inputs
 * @param forEver the lines about rows that are stored without limit
 */
private[changelog] final case class ChangelogWords(
    aliases: Map[Side, String],
    explanation: Explanation = Explanation("", Nil),
    forEver: Seq[String] = Nil
)

/** Specification of a changelog join for its tasks. */
private[changelog] final case class ChangelogSpec(
    on: JoinedOn,
    left: ChangelogSide,
    right: ChangelogSide,
    mode: ChangelogMode,
    output: ChangelogColumns,
    times: JoinTimes,
    inputs: ChangelogInputs,
    words: ChangelogWords
) {
  def bounds: JoinBounds = times.bounds

  /** The rule by which rows are evicted. */
  val leaving: EvictionRule = mode match {
    case ChangelogMode.Normalize(evicts) => EvictionRule(bounds, alone = true, evicts)
    case _                               => EvictionRule(bounds, alone = false)
  }

  def appendOnly: Boolean = mode == ChangelogMode.AppendOnly

  def normalizes: Boolean = mode.isInstanceOf[ChangelogMode.Normalize]

  /** A full join without an equality runs in one partition, because it preserves both inputs. */
  def routing: Routing =
    if (on.joinType == JoinType.FullOuter) Routing.ByKey
    else Routing.of(on.joinType, on.equiKeys.nonEmpty)

  /**
   * The columns by which rows of a side are distributed if the condition has no equality. All
   * changes of a row reach one partition.
   */
  def spread(of: Side): Seq[Attribute] =
    if (on.joinType == JoinType.FullOuter) Nil
    else if (side(of).key.columns.nonEmpty) side(of).key.columns
    else side(of).image

  /**
   * Whether rows of a side are marked while they have results, because their partners may expire
   * without a delete.
   */
  def marksMatched(side: Side): Boolean = this.side(side.other).expiry.keepsResults &&
    !leaving.exists && !appendOnly && on.joinType.emits(side)

  /** Whether the key of a side identifies the rows of the output. */
  def identifiedBy(side: Side): Boolean = {
    val own = this.side(side).key.columns
    output.key.nonEmpty && output.key.forall(k => own.exists(_.exprId == k.exprId))
  }

  def side(side: Side): ChangelogSide = if (side == Side.Left) left else right

  def keys(side: Side): Seq[Expression] =
    on.equiKeys.map(_.of(side))
}

/**
 * How rows of an input are identified.
 *
 * @param columns the unique key; empty: all columns identify a row, and equal rows are counted
 * @param inferred whether the key follows from a join below, see
 *   [[org.apache.spark.sql.streamjoin.logical.plan.nodes.UniqueKey]]
 * @param acceptsNull whether NULL is a key like any other
 * @param oneAJoinKey whether each join key has at most one row
 * @param sequence the column that orders the changes of one key
 * @param sequenceRequired whether the query requires the sequence as a column of the row
 */
private[changelog] final case class SideKey(
    columns: Seq[Attribute],
    inferred: Boolean,
    acceptsNull: Boolean,
    oneAJoinKey: Boolean,
    sequence: Option[Attribute],
    sequenceRequired: Boolean
)

/**
 * When rows of an input leave the state.
 *
 * @param leaves the indices of the event times by which a row is evicted
 * @param ttl the time to live of a row, in microseconds
 * @param ttlTime the index of the event time from which `ttl` counts; none: from the last write
 * @param retracts whether the expiry of a row retracts its results
 */
private[changelog] final case class SideExpiry(
    leaves: IndexedSeq[Int],
    ttl: Option[Long],
    ttlTime: Option[Int],
    retracts: Boolean
) {

  /** The number of limits of a row: its eviction times, then its age. */
  def limitCount: Int = leaves.length + ttl.size

  /** Whether rows expire, and their results stay. */
  def keepsResults: Boolean = ttl.nonEmpty && !retracts

  /** The time to live, if it counts from the last write. */
  def ttlOfWrite: Option[Long] = ttl.filter(_ => ttlTime.isEmpty)
}

/**
 * One input of a changelog join.
 *
 * @param columns the columns of the input
 * @param added whether a row is inserted, not deleted
 * @param packed the format of updates, if both images are one row
 * @param only the conjuncts of the condition on this input alone
 * @param onlyInserts whether no row is deleted
 */
private[changelog] final case class ChangelogSide(
    columns: Seq[Attribute],
    added: Attribute,
    packed: Option[PackedUpdate],
    key: SideKey,
    only: Option[Expression],
    expiry: SideExpiry,
    onlyInserts: Boolean
) {

  /** The columns of a row that are stored. */
  val kept: Seq[Attribute] = columns.filterNot(_.exprId == added.exprId)

  /** The columns behind the shuffle: with the old image of an update, if updates are packed. */
  val arriving: Seq[Attribute] = columns ++ packed.toSeq.flatMap(_.more)

  /** The same columns of the old image. */
  val replaced: Seq[Attribute] = packed.fold(kept)(_.before(kept))

  /**
   * The stored columns that are compared: they identify a row without a key, and decide whether an
   * update changes the row. A sequence that the query does not require is not compared.
   */
  val image: Seq[Attribute] =
    kept.filterNot(a => !key.sequenceRequired && key.sequence.exists(_.exprId == a.exprId))

  /** Whether the row is the tombstone of a deleted key, if tombstones are stored. */
  val gone: Option[Attribute] = Option.when(
    key.sequence.nonEmpty && key.columns.nonEmpty && expiry.limitCount > 0
  )(
    AttributeReference(ChangelogSide.Gone, BooleanType, nullable = false)()
  )

  /** The clock beyond which the row expires, if its age counts from the last write. */
  val expires: Option[Attribute] =
    expiry.ttlOfWrite.map(_ =>
      AttributeReference(ChangelogSide.Expires, LongType, nullable = false)()
    )

  /** The columns of a row in the state. */
  val storedColumns: Seq[Attribute] = kept ++ gone ++ expires

  def stored: StructType = DataTypeUtils.fromAttributes(storedColumns)
}

private[changelog] object ChangelogSide {
  val Expires = "_expires"
  val Gone = "_gone"
}
