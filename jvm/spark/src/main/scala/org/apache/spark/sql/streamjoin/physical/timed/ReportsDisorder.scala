package org.apache.spark.sql.streamjoin.physical.timed

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.streamjoin.logical.times.BaseColumn
import org.apache.spark.sql.streamjoin.physical.stateful.operator.JoinExec
import org.apache.spark.sql.streamjoin.physical.stateful.shown.{
  BatchReport,
  NumberedValues,
  OperatorMetrics
}
import org.apache.spark.sql.streamjoin.physical.stateful.times.JoinTimes

import io.streamjoin.model.Watermarks
import io.streamjoin.watermark.WatermarkPlan

/** Physical operator of an event-time join that reports how far rows arrive out of order. */
private[physical] trait ReportsDisorder extends JoinExec {

  protected def joinSpec: TimedJoinSpec

  final override protected def joinTimes: JoinTimes = joinSpec.times

  override protected def identifying: Seq[(String, Expression)] = joinSpec.identifying

  final override protected def figures: OperatorMetrics = TimedJoinMetrics.figures

  /** @param byKey whether a row is in the partition of its key */
  protected final def partitioned(byKey: Boolean): Partitioning =
    // a late row is in the partition of its own key, and has NULL for the key of the other input
    if (byKey && (joinSpec.output.late.isEmpty || joinSpec.joinType.leftOnly))
      partitionedAs(joinSpec.joinType)
    else UnknownPartitioning(getStateInfo.numPartitions)

  /** The event times of the output, each with the plan of its watermark. */
  protected def passed: Seq[(Expression, WatermarkPlan)]

  /**
   * Output rows are at most this much older than Spark's watermark below the join. There is no
   * watermark if Spark's watermark does not limit an event time of the output that Spark knows.
   *
   * The distance is computed for a Spark watermark of 0. The watermarks of the output then follow
   * from those of the source columns as in any batch.
   */
  final override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = {
    val base = BaseColumn.besideSparks(bases)
    val known = joinSpec.output.columns
      .filter(_.metadata.contains(EventTimeWatermark.delayKey)).map(_.exprId).toSet
    val lowest = passed.collect {
      case (time, plan) if time.references.exists(a => known(a.exprId)) => plan.eval(base)
    }
    // Spark treats a row at the watermark as late, so one more millisecond is required
    Option.when(lowest.nonEmpty && !lowest.contains(Watermarks.Unknown))(
      inputWatermarkMs - math.floorDiv(-math.min(lowest.min, 0L), 1000L) - 2
    )
  }

  @transient private lazy val timeReports: NumberedValues[(Map[String, Long], Array[Long])] =
    registered(new NumberedValues)

  private def extremes: Array[Long] =
    BatchReport.largest(timeReports.value.values.map(_._2), JoinExtremes.size(joinSpec))

  protected final def joinReport: DisorderReport = DisorderReport(report, timeReports)

  /** The explanation of the join, and what a running query has observed. */
  final override protected def explained: Seq[String] =
    joinSpec.explanation.lines ++ disorder.map(_.words) ++
      JoinExtremes.incomplete(joinSpec, extremes).map { case (name, column, watermark) =>
        val from = joinSpec.times.unit(column).text(watermark, conf.sessionLocalTimeZone)
        s"results are complete once the watermark of $name has passed $from: before the change of " +
          "the query, rows that it needs left its state"
      }

  final override protected def shownReadings: Map[String, Long] =
    JoinExtremes.lags(joinSpec) ++ disorder.flatMap(_.readings) ++
      joinSpec.hotKeys.map("hotKeys" -> _.size.toLong)

  final override protected def shownExtremes: Map[String, Long] =
    JoinExtremes.metrics(joinSpec, extremes)

  private def disorder: Seq[StoredDisorder.Seen] =
    StoredDisorder.of(joinSpec, BatchReport.sum(timeReports.value.values.map(_._1)), extremes)
}
