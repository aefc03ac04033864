package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.logical.plan.{EquiKey, InputPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.join.changelog.EvictionRule
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing
import io.streamjoin.watermark.JoinWatermarks

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

  /** Only the latest version of each key of the left input is stored: no row of the other joins. */
  case object Normalize extends ChangelogMode
}

/**
 * The event times of a changelog join.
 *
 * @param bases the columns in which watermarks originate, in the order in which they are stored
 * @param expressions the expression behind each column of the bounds
 * @param leaving the rule by which rows are evicted
 * @param zones the time zones of the session that the bounds depend on
 */
private[changelog] final case class ChangelogTimes(
    bases: Seq[BaseColumn],
    expressions: IndexedSeq[Expression],
    watermarks: JoinWatermarks,
    leaving: EvictionRule,
    zones: Set[String]
) {
  def bounds: JoinBounds = watermarks.bounds
}

/**
 * The output of a changelog join.
 *
 * @param columns the required columns, in their order
 * @param changes the columns of change metadata
 * @param added the column of `columns` with the flag that replaces the row kind
 * @param key the columns that identify an output row; empty: there are none, or not all are
 *   required
 * @param rows the condition of the required rows; none: all rows
 */
private[changelog] final case class ChangelogColumns(
    columns: Seq[Attribute],
    changes: Seq[Attribute],
    added: Option[Attribute],
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
 * @param summary routing and bounds, for the line of the node
 * @param lines the lines below the node
 * @param forEver the lines about rows that are stored without limit
 */
private[changelog] final case class ChangelogWords(
    aliases: Map[Side, String],
    summary: String = "",
    lines: Seq[String] = Nil,
    forEver: Seq[String] = Nil
)

/** Specification of a changelog join for its tasks. */
private[changelog] final case class ChangelogSpec(
    on: JoinedOn,
    left: ChangelogSide,
    right: ChangelogSide,
    mode: ChangelogMode,
    output: ChangelogColumns,
    times: ChangelogTimes,
    inputs: ChangelogInputs,
    words: ChangelogWords
) {
  def bounds: JoinBounds = times.bounds

  def appendOnly: Boolean = mode == ChangelogMode.AppendOnly

  def normalizes: Boolean = mode == ChangelogMode.Normalize

  /** A full join without an equality runs in one partition, because it preserves both inputs. */
  def routing: Routing =
    if (on.joinType == JoinType.FullOuter) Routing.ByKey
    else Routing.of(on.joinType, on.equiKeys.nonEmpty)

  /**
   * The columns by which rows of a side are distributed if the condition has no equality. All
   * changes of a row reach one partition. An inferred key is not used: rows of older checkpoints
   * are not distributed by it, and each change has the whole image.
   */
  def spread(of: Side): Seq[Attribute] =
    if (on.joinType == JoinType.FullOuter) Nil
    else if (side(of).key.columns.nonEmpty && !side(of).key.inferred) side(of).key.columns
    else side(of).image

  def side(side: Side): ChangelogSide = if (side == Side.Left) left else right

  /** The same, with rows of these sides identified by all columns instead of the inferred key. */
  def counting(sides: Set[Side]): ChangelogSpec = {
    def of(side: Side) =
      if (sides(side)) this.side(side).copy(key = this.side(side).key.counting)
      else this.side(side)
    copy(left = of(Side.Left), right = of(Side.Right))
  }

  def keys(side: Side): Seq[Expression] =
    on.equiKeys.map(_.of(side))
}
