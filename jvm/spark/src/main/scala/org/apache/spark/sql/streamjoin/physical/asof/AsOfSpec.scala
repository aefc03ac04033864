package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.And
import org.apache.spark.sql.streamjoin.logical.plan.{AsOfJoin, Residual, Versions}
import org.apache.spark.sql.streamjoin.physical.eventtime.{
  ExplainedJoin,
  JoinOutput,
  LateSpec,
  StreamJoinSpec
}

import io.streamjoin.join.asof.AsOfBounds
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.watermark.WatermarkPlan

/**
 * What the tasks of an as-of join need to know.
 *
 * @param join keys, columns and where watermarks start, as of any join by event time
 * @param times the event time of each side
 * @param filters what of the condition concerns the probe side alone
 * @param received how the watermark of each side comes about
 * @param limit how the time comes about below which all rows of both sides have come
 * @param passed the watermarks of the output's event times
 * @param versions the columns of a build side whose rows are versions
 */
private[physical] final case class AsOfSpec(
    join: StreamJoinSpec,
    bounds: AsOfBounds,
    times: BySide[Attribute],
    filters: Seq[Expression],
    received: BySide[WatermarkPlan],
    limit: WatermarkPlan,
    passed: Seq[(Attribute, WatermarkPlan)],
    versions: Option[Versions]
) {

  /** Which of the join's columns the event time of each side is. */
  def columns: BySide[Int] =
    times.map(time => join.times.expressions.indexWhere(_.semanticEquals(time)))
}

private[physical] object AsOfSpec {

  /** @param late how late rows are emitted */
  def of(j: AsOfJoin, late: Option[LateSpec] = None): AsOfSpec = {
    val analysis = j.analysis
    val out = j.timeColumns.columns
    // all that the condition says is asked of the last rows, and chooses none
    val whole = analysis.conjuncts.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
    AsOfSpec(
      StreamJoinSpec
        .of(
          analysis,
          JoinOutput(j.output, j.output, late),
          ExplainedJoin(AsOfExplanation.lines(j), AsOfExplanation.summary(j))
        )
        .copy(equiKeys = j.equiKeys, residual = Residual(whole, whole)),
      j.bounds,
      BySide.of(j.time),
      analysis.filters(j.bounds.probe),
      BySide.of(j.watermark),
      j.limit,
      j.output.flatMap(a => out.get(a.exprId).map(a -> _)),
      j.versions
    )
  }

  def of(spec: AsOfSpec, side: Side): Seq[Expression] =
    spec.join.equiKeys.map(_.of(side))
}
