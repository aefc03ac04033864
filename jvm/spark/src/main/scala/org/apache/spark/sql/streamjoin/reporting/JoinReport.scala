package org.apache.spark.sql.streamjoin.reporting

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQueryProgress
import org.apache.spark.sql.streamjoin.checkpoint.JoinDescription
import org.apache.spark.sql.streamjoin.physical.stateful.shown.DisplayNames

import io.streamjoin.join.Count
import io.streamjoin.model.{BySide, Side}

/**
 * The report of a join on one batch.
 *
 * @param query name of the query, or its ID if it has no name
 * @param join index of the join among those of the query, the topmost first
 * @param metrics metrics of the join, see docs/reference/metrics.md
 * @param names display names of its inputs and times
 */
private[reporting] final case class JoinReport(
    query: String,
    run: UUID,
    batch: Long,
    join: Int,
    metrics: Map[String, Long],
    names: DisplayNames = DisplayNames.none
) {

  def apply(metric: String): Long = metrics.getOrElse(metric, 0L)

  /** Whether it is the report of a changelog join. */
  def isOfChanges: Boolean = metrics.contains(Count.Emitted.name)

  /** The aliases of both inputs, if known. `the left input (o, d)` becomes `o_d`. */
  def aliases: Option[BySide[String]] = {
    val both = BySide.of(names.inputs(_).replaceAll(".*\\((.*)\\)", "$1").replace(", ", "_"))
    Option.when(!Side.both.exists(both(_).startsWith("the ")))(both)
  }

  /** The values of a metric by column. */
  def byColumn(prefix: String): Map[String, Long] = metrics.collect {
    case (name, value) if name.startsWith(s"$prefix.") => name.stripPrefix(s"$prefix.") -> value
  }
}

private[reporting] object JoinReport {

  def of(progress: StreamingQueryProgress): Seq[JoinReport] = {
    val joins = progress.stateOperators.toSeq.filter(_.operatorName == JoinDescription.Operator)
    val names = DisplayNames.ofRun(progress.runId)
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
      // joins side by side may be in another order; names are used only if they certainly belong to
      // this join
      val own = names.lift(join).filter(_ => names.length == joins.length)
      own.filter(n => report.byColumn("watermark").keySet.subsetOf(n.columns.keySet))
        .fold(report)(n => report.copy(names = n))
    }
  }
}
