package org.apache.spark.sql.streamjoin.physical.stateful

import java.util.UUID

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.run.PerOperator
import org.apache.spark.sql.streamjoin.spark.StatefulOperatorStateInfo

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{BySide, Side}

/**
 * What the person calls the inputs of a join and its event times.
 *
 * @param inputs `o`; of several aliases `the left input (o, d)`; without any `the left input`
 * @param columns by the name that a report has for a time: `d.dt` of `dt`
 * @param unmatchedOnly whether the join emits unmatched rows alone, as an anti join
 */
private[streamjoin] final case class SaidNames(
    inputs: BySide[String],
    columns: Map[String, String],
    unmatchedOnly: Boolean = false
) {

  def column(reported: String): String = columns.getOrElse(reported, reported)
}

private[streamjoin] object SaidNames {

  /** Where nothing is known. */
  val none: SaidNames = SaidNames(BySide.of(side => s"the ${side.name} input"), Map.empty)

  private val known = new PerOperator[SaidNames]

  /** Of a join that reports. */
  private[stateful] def remember(info: StatefulOperatorStateInfo)(names: => SaidNames): Unit =
    known.of(info)(names)

  /** Of the joins of a run of a query that have reported, the one on top first, as Spark lists them. */
  def ofRun(run: UUID): Seq[SaidNames] = known.ofRun(run)

  /**
   * The alias of an input, by what its event times are called.
   *
   * @param otherwise where these have none
   */
  private[stateful] def alias(bounds: JoinBounds, side: Side)(
      otherwise: => Option[String]
  ): Option[String] = {
    val all = ofTimes(bounds, side)
    val told = aliases(all, side)
    if (told.isEmpty) otherwise else told.headOption.filter(_ => all.length == 1)
  }

  /** An input, as it is called in a sentence. */
  private[stateful] def input(bounds: JoinBounds, side: Side)(
      otherwise: => Option[String]
  ): String = alias(bounds, side)(otherwise).getOrElse {
    val told = aliases(ofTimes(bounds, side), side)
    none.inputs(side) + (if (told.isEmpty) "" else told.sorted.mkString(" (", ", ", ")"))
  }

  /** What stands before the names of the event times. */
  private def ofTimes(bounds: JoinBounds, side: Side): Seq[Seq[String]] =
    bounds.indices(side).filter(bounds.columns(_).watermarked).map { column =>
      UnresolvedAttribute.parseAttributeName(bounds.columns(column).name).init
    }.distinct

  private def aliases(ofTimes: Seq[Seq[String]], side: Side): Seq[String] =
    ofTimes.filterNot(q => q.isEmpty || q == Seq(side.name)).map(ColumnNames.written)
}
