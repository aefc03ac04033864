package org.apache.spark.sql.streamjoin.physical

import org.apache.spark.sql.streamjoin.bounds.TimeUnit
import org.apache.spark.sql.streamjoin.logical.{BaseColumn, JoinAnalysis}

import io.streamjoin.bounds.Saturated
import io.streamjoin.core.{Routing, Side}

/** What `explain` says of a join, in words. */
private[physical] object JoinExplanation {

  def lines(a: JoinAnalysis): Seq[String] =
    watermarks(a) ++ bounds(a) ++ noBounds(a) ++ Side.both.map(kept(a, _)) ++ outputs(a)

  /** How rows reach the partitions. */
  def routing(spec: StreamJoinSpec): String = spec.routing match {
    case Routing.ByKey =>
      val (left, right) = (spec.equiKeys.map(_.left), spec.equiKeys.map(_.right))
      s"hash by ${left.map(_.sql).mkString("[", ", ", "]")} = " +
        right.map(_.sql).mkString("[", ", ", "]")
    case Routing.Broadcast(unicast) =>
      s"no equality: ${unicast.name} rows spread over the partitions, " +
        s"${unicast.other.name} rows copied to each"
    case Routing.Shared => "no equality: all rows copied to each partition"
  }

  private def unit(a: JoinAnalysis, i: Int): TimeUnit = TimeUnit.of(a.expressions(i).dataType).get

  private def name(a: JoinAnalysis, i: Int): String = a.bounds.columns(i).name

  private def minus(a: JoinAnalysis, i: Int, distance: Long): String =
    if (distance == 0) ""
    else if (distance > 0) s" - ${unit(a, i).sql(distance)}"
    else s" + ${unit(a, i).sql(Saturated.subtract(0, distance))}"

  private def watermarks(a: JoinAnalysis): Seq[String] = a.bases.map {
    case b: BaseColumn.Imposed =>
      val idle = b.idleTimeoutMs.fold("")(ms => s", idle after $ms ms")
      s"watermark: largest ${b.name} seen - ${b.unit.sql(b.lag)}$idle"
    case b: BaseColumn.Propagated => s"watermark: ${b.name} by Spark's own operator below"
  }

  private def bounds(a: JoinAnalysis): Seq[String] =
    a.bounds.conjuncts.zip(a.conditionBounds.found).map { case (b, f) =>
      s"bound: ${name(a, b.later)} >= ${name(a, b.earlier)}${minus(a, b.earlier, b.slack)}" +
        s"   from ${f.conjunct.sql}"
    }

  private def noBounds(a: JoinAnalysis): Seq[String] =
    a.conditionBounds.rejected.map(r => s"no bound: ${r.conjunct.sql} (${r.reason.text})")

  private def kept(a: JoinAnalysis, side: Side): String = {
    val terms = for {
      c <- a.bounds.indices(side)
      b <- a.bounds.governing(c)
    } yield s"${name(a, c)} < watermark of ${name(a, b)}${minus(a, b, a.bounds.slack(c, b))}"
    if (a.bounds.contradictory)
      s"${side.name} rows are not kept: the time bounds contradict each other"
    else s"${side.name} rows are kept until ${terms.mkString(" or ")}"
  }

  private def outputs(a: JoinAnalysis): Seq[String] = for {
    i <- a.bounds.columns.indices if a.bounds.columns(i).watermarked
    if !a.joinType.leftOnly || a.bounds.columns(i).side == Side.Left
  } yield {
    val from = a.bounds
      .governing(i)
      .map(b => s"watermark of ${name(a, b)}${minus(a, b, a.bounds.slack(i, b))}")
    val limit =
      if (from.isEmpty) "none, for nothing bounds it"
      else if (from.length == 1) s"the smaller of its own and the ${from.head}"
      else s"the smaller of its own and the largest of ${from.mkString(", ")}"
    s"output watermark of ${name(a, i)}: $limit"
  }
}
