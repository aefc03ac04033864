package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.{FoundBound, RetentionLimit}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.JoinAnalysis
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{Explanation, TimeWords}
import org.apache.spark.sql.streamjoin.physical.timed.TimedJoinSpec

import io.streamjoin.bounds.JoinBounds
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.placement.Routing

/** The text of a join in `explain`. */
private[physical] object JoinExplanation {

  /** @param late the column with the reason of a late row, if the join emits late rows */
  def of(a: JoinAnalysis, late: Option[Attribute]): Explanation =
    Explanation(summary(a), lines(a, late))

  private def lines(a: JoinAnalysis, late: Option[Attribute]): Seq[String] = {
    val times = new TimeWords(a)
    times.watermarks ++ conjuncts(a, times) ++ facts(
      a,
      times
    ) ++ Side.both.map(kept(a, times, _)) ++
      outputs(a, times) ++ late.map(lateRows(a, times, _))
  }

  private def summary(a: JoinAnalysis): String =
    // the description of the routing already says that no two rows can match
    if (a.bounds.contradictory && a.equiKeys.isEmpty) ""
    else new TimeWords(a).bounds.mkString(" and ")

  /** Describes how the join distributes rows over partitions. */
  def routing(spec: TimedJoinSpec): String = spec.routing match {
    case Routing.ByKey if spec.equiKeys.isEmpty =>
      "no two rows can match: each is sent to one partition"
    case Routing.ByKey => byKey(spec)
    case Routing.ByKeyAndTime(_, hot) =>
      val keys = if (hot.size == 1) "one key" else s"${hot.size} keys"
      s"${byKey(spec)}, rows of $keys spread by ${inBuckets(spec, hot.widths: _*)}"
    case Routing.Broadcast(unicast) =>
      s"no equality: ${unicast.name} rows spread over the partitions, " +
        s"${unicast.other.name} rows copied to each"
    case Routing.Shared => "no equality: all rows copied to each partition"
    case Routing.ByTime(single, buckets) =>
      s"no equality: by ${inBuckets(spec, buckets.width)}, " +
        s"${single.fold("rows")(s => s"${s.other.name} rows")} copied to at most two partitions"
  }

  private def byKey(spec: TimedJoinSpec): String = {
    val (left, right) = (spec.equiKeys.map(_.left), spec.equiKeys.map(_.right))
    s"hash by ${left.map(_.sql).mkString("[", ", ", "]")} = " +
      right.map(_.sql).mkString("[", ", ", "]")
  }

  private def inBuckets(spec: TimedJoinSpec, widths: Long*): String = {
    val times = Side.both.map(side => spec.bounds.columns(spec.bounds.probeColumn(side)).name)
    val unit = spec.times.unit(spec.bounds.probeColumn(Side.Left))
    s"buckets of ${widths.map(unit.words).mkString(" or ")} of ${times.mkString(", ")}"
  }

  /** The role of each conjunct of the condition. */
  private def conjuncts(a: JoinAnalysis, times: TimeWords): Seq[String] =
    a.conjuncts.map { c =>
      val equality = Option.when(a.isEquality(c))("equality")
      val bounds = a.bounds.conjuncts.zip(a.conditionBounds.found).collect {
        case (b, f) if f.conjunct == c => "bound " + times.bound(b) + widened(f)
      }
      val no = a.conditionBounds.rejected.find(_.conjunct == c).map("no bound: " + _.text)
      val filter = Side.both.find(a.filters(_).contains(c)).map { side =>
        s"filter on rows of ${times.input(side)}, before they are buffered"
      }
      val said = equality ++ bounds ++ no ++ filter
      val origin = if (c.isInstanceOf[RetentionLimit]) "added by the retention, " else ""
      s"condition ${ColumnNames.sql(c)}: $origin" +
        (if (c.references.isEmpty) "no bound: it is the same for all rows"
         else if (said.isEmpty) "no bound: it compares no event times of both inputs"
         else said.mkString(", "))
    }

  private def widened(found: FoundBound): String =
    if (found.widened) " (with room for rounding and for changes of the clocks)" else ""

  private def facts(a: JoinAnalysis, times: TimeWords): Seq[String] =
    a.bounds.facts.map(f => s"known from the joins below: ${times.bound(f)}")

  private def kept(a: JoinAnalysis, times: TimeWords, side: Side): String = {
    val row = s"a row of ${times.input(side)}"
    if (a.bounds.contradictory) {
      val why =
        if (a.bounds.neverTrue) "the condition is never true"
        else "the time bounds contradict each other"
      s"$row is not buffered: $why, so no two rows can match" +
        (if (a.joinType.preserves(side)) "; it is emitted at once" else "")
    } else {
      val limits = a.bounds.limiting(side).map { b =>
        val ends = a.bounds
          .indices(side)
          .filter(a.bounds.slack(_, b) != JoinBounds.Unbounded)
          .map(c => times.passed(c, b, a.bounds.slack(c, b)))
        s"${times.seen(b)} passes ${oneOf("the earliest of", ends)}"
      }
      val first = if (limits.length > 1) ", whichever comes first" else ""
      val end =
        if (a.joinType.preserves(side)) "; if it has not matched by then, it is emitted"
        else if (a.joinType == JoinType.LeftSemi && side == Side.Left) ", or until it matches"
        else ""
      s"$row is buffered until ${limits.mkString(", or ")}$first$end"
    }
  }

  private def outputs(a: JoinAnalysis, times: TimeWords): Seq[String] = for {
    i <- a.bounds.columns.indices if a.bounds.columns(i).watermarked
    if a.joinType.emits(a.bounds.columns(i).side)
  } yield {
    def behind(column: Int) =
      a.bounds.governing(column).map(b => times.behind(b, a.bounds.slack(column, b)))
    val limits = behind(i) ++ a.bounds.multiples(i).flatMap { m =>
      a.bounds.columns(m).multipleOf.toSeq.flatMap(of => behind(m).map(b => s"($b) / ${of.factor}"))
    }
    val mark =
      if (!a.bounds.watermarkedInOutput(i)) "none, because no bound limits the age of its values"
      else if (a.bounds.contradictory) times.behind(i, 0)
      else s"${times.behind(i, 0)}, or if that is less, ${oneOf("the largest of", limits)}"
    s"output watermark of ${times.name(i)}: $mark"
  }

  private def lateRows(a: JoinAnalysis, times: TimeWords, column: Attribute): String = {
    val rows = if (a.joinType.leftOnly) s"late rows of ${times.input(Side.Left)}" else "late rows"
    s"$rows are emitted, with the reason in ${column.name}"
  }

  private def oneOf(which: String, texts: Seq[String]): String =
    if (texts.length == 1) texts.head else texts.mkString(s"$which ", ", ", "")
}
