package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streamjoin.logical.plan.{EquiKey, InputPart}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.join.changelog.Leaving
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing
import io.streamjoin.watermark.JoinWatermarks

/**
 * Which rows of a changelog join meet.
 *
 * @param condition the whole condition
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
 * @param bases where watermarks start, in the order in which they are stored
 * @param expressions the expression behind each column of the bounds
 * @param leaving by which of the times rows are evicted
 * @param zones the time zones of the session that the bounds depend on
 */
private[changelog] final case class ChangelogTimes(
    bases: Seq[BaseColumn],
    expressions: IndexedSeq[Expression],
    watermarks: JoinWatermarks,
    leaving: Leaving,
    zones: Set[String]
) {
  def bounds: JoinBounds = watermarks.bounds
}

/**
 * The output of a changelog join.
 *
 * @param columns the required columns, in their order
 * @param changes the columns of change metadata
 * @param added the one of `columns` with a flag that replaces the kind
 * @param key the columns that identify an output row; empty: there are none, or not all are required
 * @param rows which rows are required; none: all
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
 * @param filters conjuncts of the required rows on one input. Once a checkpoint is known, those that its rows passed
 */
private[changelog] final case class ChangelogInputs(
    parts: Seq[(Side, InputPart)],
    filters: Seq[InputFilter]
)

/**
 * The words of `explain` on a changelog join.
 *
 * @param aliases the aliases of the inputs
 * @param summary the condition, for the line of the node
 * @param lines the lines below the node
 * @param forEver those of them about rows that are stored without limit
 */
private[changelog] final case class ChangelogWords(
    aliases: Map[Side, String],
    summary: String = "",
    lines: Seq[String] = Nil,
    forEver: Seq[String] = Nil
)

/** What the tasks of a changelog join need to know. */
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

  /** A full join without an equality is in one partition: both inputs are preserved. */
  def routing: Routing =
    if (on.joinType == JoinType.FullOuter) Routing.ByKey
    else Routing.of(on.joinType, on.equiKeys.nonEmpty)

  /**
   * By what rows of a side are spread where nothing says which ones meet: all changes of a row to one place. Not by a key
   * from below, which the changes of older checkpoints were not spread by, and each image finds its like without.
   */
  def spread(of: Side): Seq[Attribute] =
    if (on.joinType == JoinType.FullOuter) Nil
    else if (side(of).key.columns.nonEmpty && !side(of).key.inferred) side(of).key.columns
    else side(of).image

  def side(side: Side): ChangelogSide = if (side == Side.Left) left else right

  /** With rows of these sides told apart by all their columns, although a join below gives them a key. */
  def counting(sides: Set[Side]): ChangelogSpec = {
    def of(side: Side) =
      if (sides(side)) this.side(side).copy(key = this.side(side).key.counting)
      else this.side(side)
    copy(left = of(Side.Left), right = of(Side.Right))
  }

  def keys(side: Side): Seq[Expression] =
    on.equiKeys.map(_.of(side))
}
