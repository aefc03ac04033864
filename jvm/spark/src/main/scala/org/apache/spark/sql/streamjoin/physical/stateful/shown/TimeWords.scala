package org.apache.spark.sql.streamjoin.physical.stateful.shown

import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.logical.plan.analysis.JoinAnalysis
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import WatermarkWords.latest

import io.streamjoin.bounds.{Saturated, TimeBound}
import io.streamjoin.model.Side
import io.streamjoin.watermark.WatermarkPlan

/** Display texts of the times, distances, and watermarks of a join, with lags included. */
private[physical] final class TimeWords(a: JoinAnalysis) {

  def name(column: Int): String = a.bounds.columns(column).name

  /** The display name of an input: its alias, for example `o`, if it has one. */
  def input(side: Side): String = alias(side).getOrElse(DisplayNames.none.inputs(side))

  /** The alias of the event times of an input; if they have none, the alias of all its columns. */
  def alias(side: Side): Option[String] = DisplayNames.alias(a.bounds, side) {
    a.question.aliases(side.index).map(alias => ColumnNames.written(Seq(alias)))
  }

  def bound(b: TimeBound): String =
    s"${name(b.later)} >= ${moved(name(b.earlier), unit(b.earlier), Saturated.subtract(0, b.slack))}"

  /**
   * The bounds of the condition. Both bounds of two times form one text: `d.t from o.t to o.t + 1
   * hour`.
   */
  def bounds: Seq[String] =
    if (a.bounds.contradictory) Seq("no two rows can match")
    else {
      val tightest = a.bounds.conjuncts.groupBy(b => (b.later, b.earlier)).map {
        case (times, several) => times -> several.map(_.slack).min
      }
      a.bounds.conjuncts.map(b => pair(b.later, b.earlier)).distinct.map { case (from, of) =>
        def least = moved(name(from), unit(from), Saturated.subtract(0, tightest((of, from))))
        def most = moved(name(from), unit(from), tightest((from, of)))
        (tightest.contains((of, from)), tightest.contains((from, of))) match {
          case (true, true) if least == most => s"${name(of)} = $least"
          case (true, true)                  => s"${name(of)} from $least to $most"
          case (true, _)                     => s"${name(of)} >= $least"
          case _                             => s"${name(of)} <= $most"
        }
      }
    }

  /** Two times in display order: the time of the left input first. */
  private def pair(x: Int, y: Int): (Int, Int) =
    if (a.bounds.columns(x).side == Side.Right && a.bounds.columns(y).side == Side.Left) (y, x)
    else if (a.bounds.columns(x).side == a.bounds.columns(y).side) (x.min(y), x.max(y))
    else (x, y)

  /** The watermarks of the source columns. */
  def watermarks: Seq[String] =
    a.bases.zip(sources).map { case (base, source) => WatermarkWords.of(base, source) }

  /** The names of the source columns. Columns with the same name have their names in the join. */
  private def sources: Seq[String] = {
    val names = a.bases.map(_.name)
    names.zipWithIndex.map { case (name, i) =>
      if (names.count(_ == name) == 1) name else a.watermarks.nameOf(i).getOrElse(name)
    }
  }

  /** The time or the watermark that advances the watermark of a column. */
  def seen(column: Int): String =
    if (lag(column).nonEmpty) latest(name(column), unit(column))
    else s"the watermark of ${name(column)}"

  /**
   * The value that `seen(other)` must pass before the watermark of `other` passes the time plus the
   * slack.
   */
  def passed(column: Int, other: Int, slack: Long): String = {
    val behind = lag(other).getOrElse(0L)
    val parts = Seq("bound" -> slack, "lag" -> behind).filter(_._2 != 0).map { case (what, d) =>
      s"$what ${if (d < 0) "-" else ""}${unit(column).words(Saturated.subtract(0, d).max(d))}"
    }
    moved(name(column), unit(column), Saturated.add(slack, behind)) +
      (if (parts.isEmpty) "" else parts.mkString(" (", " + ", ")"))
  }

  /** The watermark of a column minus a distance. */
  def behind(column: Int, distance: Long): String = {
    val total = Saturated.add(distance, lag(column).getOrElse(0L))
    moved(seen(column), unit(column), Saturated.subtract(0, total))
  }

  private def unit(column: Int): TimeUnit = TimeUnit.of(a.expressions(column).dataType).get

  /** The lag of a column, if its own values alone determine its watermark. */
  private def lag(column: Int): Option[Long] = a.watermarks.inputs(column) match {
    case WatermarkPlan.Base(i) =>
      Some(a.bases(i)).collect { case b: BaseColumn.Imposed => b.lag }
    case _ => None
  }

  private def moved(what: String, unit: TimeUnit, by: Long): String = unit.movedInWords(what, by)
}

/** Display texts of the watermarks of source columns. */
private[physical] object WatermarkWords {

  /** @param source the display name of the column */
  def of(base: BaseColumn, source: String): String = base match {
    case b: BaseColumn.Imposed =>
      val idle = b.idleTimeoutMs.fold("") { ms =>
        val group = if (b.per.isEmpty) "" else "a group does not count; if none does, "
        s"; after ${TimeUnit.Timestamp.words(ms * 1000)} without a row, ${group}the watermark of the " +
          "slowest input that it is joined with"
      }
      val ahead = b.maxAhead.fold("") { a =>
        val dropped = if (a.rejects) ", and its row is dropped" else ""
        s"; a time more than ${TimeUnit.Timestamp.words(a.micros)} ahead of its batch does not " +
          s"advance it$dropped"
      }
      val per =
        if (b.per.isEmpty) ""
        else
          s", of the slowest group by ${b.per.map(n => ColumnNames.written(Seq(n))).mkString(", ")}"
      s"watermark of $source: ${b.unit.movedInWords(latest(source, b.unit), -b.lag)}$per$idle$ahead"
    case _: BaseColumn.Propagated =>
      s"watermark of $source: from Spark's own operator below"
  }

  def latest(name: String, unit: TimeUnit): String =
    s"the ${if (unit == TimeUnit.Number) "largest" else "latest"} $name seen"
}
