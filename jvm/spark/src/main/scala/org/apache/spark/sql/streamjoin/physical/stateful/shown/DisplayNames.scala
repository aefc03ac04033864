package org.apache.spark.sql.streamjoin.physical.stateful.shown

import java.util.UUID

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{BySide, Side}

/**
 * Display names of the inputs of a join and of its event times.
 *
 * @param inputs `o`; for several aliases `the left input (o, d)`; without an alias `the left input`
 * @param columns the display name of a time by its name in a report, for example `d.dt` for `dt`
 * @param unmatchedOnly whether the join emits unmatched rows only, as an anti join does
 */
private[streamjoin] final case class DisplayNames(
    inputs: BySide[String],
    columns: Map[String, String],
    unmatchedOnly: Boolean = false
) {

  def column(reported: String): String = columns.getOrElse(reported, reported)
}

private[streamjoin] object DisplayNames {

  /** The names of a join without a report. */
  val none: DisplayNames = DisplayNames(BySide.of(side => s"the ${side.name} input"), Map.empty)

  private val known = new PerOperator[DisplayNames]

  /** Records the names of a join when it reports. */
  private[stateful] def remember(info: StatefulOperatorStateInfo)(names: => DisplayNames): Unit =
    known.of(info)(names)

  /** The names of all joins of a run that have reported, the topmost first, as Spark lists them. */
  def ofRun(run: UUID): Seq[DisplayNames] = known.ofRun(run)

  /**
   * The alias of an input: the qualifier that all of its event times have.
   *
   * @param otherwise the alias if no event time has a qualifier
   */
  private[stateful] def alias(bounds: JoinBounds, side: Side)(
      otherwise: => Option[String]
  ): Option[String] = {
    val all = ofTimes(bounds, side)
    val told = aliases(all, side)
    if (told.isEmpty) otherwise else told.headOption.filter(_ => all.length == 1)
  }

  /** The display name of an input in a sentence. */
  private[stateful] def input(bounds: JoinBounds, side: Side)(
      otherwise: => Option[String]
  ): String = alias(bounds, side)(otherwise).getOrElse {
    val told = aliases(ofTimes(bounds, side), side)
    none.inputs(side) + (if (told.isEmpty) "" else told.sorted.mkString(" (", ", ", ")"))
  }

  /** The qualifiers of the event times of an input. */
  private def ofTimes(bounds: JoinBounds, side: Side): Seq[Seq[String]] =
    bounds.watermarked(side).map { column =>
      UnresolvedAttribute.parseAttributeName(bounds.columns(column).name).init
    }.distinct

  private def aliases(ofTimes: Seq[Seq[String]], side: Side): Seq[String] =
    ofTimes.filterNot(q => q.isEmpty || q == Seq(side.name)).map(ColumnNames.written)
}
