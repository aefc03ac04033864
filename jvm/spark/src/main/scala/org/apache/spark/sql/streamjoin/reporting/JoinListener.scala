package org.apache.spark.sql.streamjoin.reporting

import java.util.{Collections, UUID, WeakHashMap}

import scala.collection.mutable

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.streaming.StreamingQueryProgress
import org.apache.spark.sql.streaming.StreamingQueryListener.{
  QueryProgressEvent,
  QueryTerminatedEvent
}
import org.apache.spark.sql.streamjoin.run.RunScope
import org.apache.spark.sql.streamjoin.spark.{SparkListener, SparkListenerEvent}

/**
 * Hands what joins tell of their batches on: to Spark's metrics system, and what loses rows in silence to
 * the driver's log. It hears of the queries of all sessions, Spark Connect's too, beside their threads.
 */
private[streamjoin] final class JoinListener extends SparkListener with Logging {

  private val runs = mutable.Map.empty[UUID, JoinListener.Run]

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case e: QueryProgressEvent   => if (hasRun(e.progress)) JoinReport.of(e.progress).foreach(add)
    case e: QueryTerminatedEvent => ended(e.runId)
    case _                       =>
  }

  /**
   * Whether a batch has run: a trigger that finds nothing reports the number of the next batch, and may repeat the
   * figures of the last one.
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

  /** Spark takes all figures away whose names begin like this source's: `orders_eu` with `orders`. */
  private def unregister(source: JoinSource): Unit =
    if (runs.values.exists(_.source.sourceName.startsWith(source.sourceName))) source.clear()
    else Option(SparkEnv.get).foreach(_.metricsSystem.removeSource(source))
}

private[streamjoin] object JoinListener {

  private final class Run(val source: JoinSource) {
    val batches = mutable.Map.empty[Int, Long]
    val warnings = mutable.Map.empty[Int, BatchWarnings]
  }

  private val listening =
    Collections.newSetFromMap(new WeakHashMap[SparkContext, java.lang.Boolean])

  /** Listens to the application that runs, once however many sessions it has. */
  def listen(): Unit = listening.synchronized {
    SparkContext.getActive.filter(listening.add).foreach(_.addSparkListener(new JoinListener))
  }
}
