package org.apache.spark.sql.streamjoin.reporting

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.streaming.StreamingQueryProgress
import org.apache.spark.sql.streaming.StreamingQueryListener.{
  QueryProgressEvent,
  QueryTerminatedEvent
}
import org.apache.spark.sql.streamjoin.run.{OncePerApplication, RunScope}

/**
 * Listener that passes the reports of joins to Spark's metrics system, and logs warnings on the
 * driver.
 *
 * It receives the events of the queries of all sessions, including those of Spark Connect. It runs
 * outside the threads of the queries.
 */
private[streamjoin] final class JoinListener extends SparkListener with Logging {

  private val runs = mutable.Map.empty[UUID, JoinListener.Run]

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case e: QueryProgressEvent   => if (hasRun(e.progress)) JoinReport.of(e.progress).foreach(add)
    case e: QueryTerminatedEvent => ended(e.runId)
    case _                       =>
  }

  /**
   * Whether a batch has run. A trigger without new data reports the number of the next batch, and
   * may repeat the metrics of the last one.
   */
  private def hasRun(progress: StreamingQueryProgress): Boolean =
    progress.numInputRows > 0 || progress.durationMs.containsKey("addBatch")

  private def add(report: JoinReport): Unit = {
    val run = runs.getOrElseUpdate(report.run, started(report.query))
    val last = run.batches.get(report.join)
    if (last.forall(_ < report.batch)) {
      run.batches(report.join) = report.batch
      run.source.add(report)
      run.warnings.getOrElseUpdate(report.join, new BatchWarnings).of(report).foreach(logWarning(_))
    }
  }

  private def ended(run: UUID): Unit = {
    runs.remove(run).foreach(r => unregister(r.source))
    RunScope.ended(run)
  }

  private def started(query: String): JoinListener.Run = {
    val source = new JoinSource(query)
    Option(SparkEnv.get).foreach(_.metricsSystem.registerSource(source))
    new JoinListener.Run(source)
  }

  /**
   * Removes the metrics of a source. Spark removes all metrics whose names start with the name of
   * the source: for `orders`, those of `orders_eu` too.
   */
  private def unregister(source: JoinSource): Unit =
    if (runs.values.exists(_.source.sourceName.startsWith(source.sourceName))) source.clear()
    else Option(SparkEnv.get).foreach(_.metricsSystem.removeSource(source))
}

private[streamjoin] object JoinListener {

  private final class Run(val source: JoinSource) {
    val batches = mutable.Map.empty[Int, Long]
    val warnings = mutable.Map.empty[Int, BatchWarnings]
  }

  /** Adds a listener to the running application, once for all its sessions. */
  def listen(): Unit =
    OncePerApplication.first(JoinListener).foreach(_.addSparkListener(new JoinListener))
}
