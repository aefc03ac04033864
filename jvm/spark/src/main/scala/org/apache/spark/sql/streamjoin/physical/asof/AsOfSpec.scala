package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Literal}
import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  JoinDescription,
  StateFormat,
  StoredTime
}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.Residual
import org.apache.spark.sql.streamjoin.logical.plan.changes.Versions
import org.apache.spark.sql.streamjoin.logical.plan.nodes.AsOfJoin
import org.apache.spark.sql.streamjoin.physical.timed.{JoinOutput, LateSpec, TimedJoinSpec}

import io.streamjoin.join.asof.AsOfBounds
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.Routing
import io.streamjoin.watermark.WatermarkPlan

/**
 * Specification of an as-of join for its tasks.
 *
 * @param join keys, columns and source watermarks, as for every event-time join
 * @param times the event time of each side
 * @param received how the watermark of each side follows from the source watermarks
 * @param limit how the time follows from them below which both inputs are complete
 * @param passed the event times of the output, with their watermarks
 * @param versions the columns of a build side whose rows are versions
 */
private[physical] final case class AsOfSpec(
    join: TimedJoinSpec,
    bounds: AsOfBounds,
    times: BySide[Attribute],
    received: BySide[WatermarkPlan],
    limit: WatermarkPlan,
    passed: Seq[(Attribute, WatermarkPlan)],
    versions: Option[Versions]
) {

  /** The index of the event time of each side among the times of the join. */
  def columns: BySide[Int] =
    times.map(time => join.times.expressions.indexWhere(_.semanticEquals(time)))

  /** The description that is stored beside the state. */
  def description(format: StateFormat): JoinDescription = {
    import bounds._
    def name(column: Attribute) = column.withQualifier(Nil).sql
    def time(side: Side) = StoredTime(s"${side.name}.${name(times(side))}", times(side).dataType)
    val which = versions.fold(s"the last $count of the ${build.name} input") { v =>
      val ties = v.sequence.fold("")(s => DescribedKind.LastBy + name(s))
      s"the version of the ${build.name} input$ties"
    }
    val oldest = tolerance.fold("any age")(t => s"not older than $t")
    val joined = join.description(format)
    joined.copy(
      routing = Routing.ByKey,
      times = joined.times.copy(
        lookup = BySide.of(time),
        limits = BySide.of(s => Seq(time(s.other)))
      ),
      kind = DescribedKind.AsOf(s"$which${DescribedKind.UpTo}$reach later, $oldest")
    )
  }
}

private[physical] object AsOfSpec {

  /** @param late how late rows are emitted */
  def of(j: AsOfJoin, late: Option[LateSpec] = None): AsOfSpec = {
    val analysis = j.analysis
    val out = j.timeColumns.columns
    // the whole condition is evaluated on the last rows; it does not choose them
    val whole = analysis.conjuncts.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
    AsOfSpec(
      TimedJoinSpec
        .of(analysis, JoinOutput(j.output, j.output, late), AsOfExplanation.of(j))
        .copy(equiKeys = j.equiKeys, residual = Residual(whole, whole)),
      j.bounds,
      BySide.of(j.time),
      BySide.of(j.watermark),
      j.limit,
      j.output.flatMap(a => out.get(a.exprId).map(a -> _)),
      j.versions
    )
  }
}
