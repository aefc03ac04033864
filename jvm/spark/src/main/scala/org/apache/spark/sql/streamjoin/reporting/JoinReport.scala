package org.apache.spark.sql.streamjoin.reporting

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQueryProgress
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.stateful.SaidNames

import io.streamjoin.model.{BySide, Side}

/**
 * What a join has told of one batch.
 *
 * @param query what people call the query: its name, or its id where it has none
 * @param join its place among the joins of the query, the one on top first
 * @param metrics its own, see docs/reference/metrics.md
 * @param names what the person calls its inputs and times
 */
private[reporting] final case class JoinReport(
    query: String,
    run: UUID,
    batch: Long,
    join: Int,
    metrics: Map[String, Long],
    names: SaidNames = SaidNames.none
) {

  def apply(metric: String): Long = metrics.getOrElse(metric, 0L)

  /** The aliases of both inputs, if they are known: of `the left input (o, d)` they are `o_d`. */
  def aliases: Option[BySide[String]] = {
    val both = BySide.of(names.inputs(_).replaceAll(".*\\((.*)\\)", "$1").replace(", ", "_"))
    Option.when(!Side.both.exists(both(_).startsWith("the ")))(both)
  }

  /** By column, of metrics that there are for each. */
  def byColumn(prefix: String): Map[String, Long] = metrics.collect {
    case (name, value) if name.startsWith(s"$prefix.") => name.stripPrefix(s"$prefix.") -> value
  }
}

private[reporting] object JoinReport {

  def of(progress: StreamingQueryProgress): Seq[JoinReport] = {
    val joins = progress.stateOperators.toSeq.filter(_.operatorName == JoinDescription.Operator)
    val names = SaidNames.ofRun(progress.runId)
    joins.zipWithIndex.map { case (operator, join) =>
      val report = JoinReport(
        Option(progress.name).getOrElse(progress.id.toString),
        progress.runId,
        progress.batchId,
        join,
        operator.customMetrics.asScala.view.mapValues(_.longValue).toMap +
          ("numRowsTotal" -> operator.numRowsTotal) +
          ("memoryUsedBytes" -> operator.memoryUsedBytes) +
          ("commitTimeMs" -> operator.commitTimeMs)
      )
      // of joins side by side the order may be another: a name that is not sure is not said
      val own = names.lift(join).filter(_ => names.length == joins.length)
      own.filter(n => report.byColumn("watermark").keySet.subsetOf(n.columns.keySet))
        .fold(report)(n => report.copy(names = n))
    }
  }
}
