package io.streamjoin.benchmarks.spark

import java.time.Instant

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQueryProgress

import io.streamjoin.benchmarks.Batch

/** What a query's progress reports say about a run. */
private final case class ProgressLog(
    progress: Seq[StreamingQueryProgress],
    received: Received,
    countsRows: Boolean
) {

  val batches: Seq[Batch] = progress.map { p =>
    Batch(
      p.numInputRows,
      p.durationMs.get("triggerExecution").toDouble,
      if (countsRows) p.stateOperators.map(_.numRowsTotal).sum else -1,
      p.stateOperators.map(_.memoryUsedBytes).sum,
      received.cpuMs(p.batchId)
    )
  }

  def peakRows: Option[Long] =
    Option.when(countsRows)(batches.map(_.bufferedRows).maxOption).flatten

  def peakBytes: Option[Long] = batches.map(_.bufferedBytes).maxOption

  def rowsWritten: Long = progress.flatMap(_.stateOperators).map(_.numRowsUpdated).sum

  /** Only this project's join has metrics by side. */
  def peaksBySide: Seq[(String, Any)] =
    Seq("Left", "Right").flatMap { side =>
      val sums = progress.map(
        _.stateOperators.toSeq.flatMap(o => Option(o.customMetrics.get(s"bufferedRows$side")))
      )
      Option.when(sums.exists(_.nonEmpty))(
        s"peak_buffered_rows_${side.toLowerCase}" -> sums.map(_.map(_.longValue).sum).max
      )
    }

  /** Delay of unmatched rows: from the batch that allowed them to their output. */
  def delays: Seq[(String, Any)] = {
    val firstEpoch = progress.reverse.map(p => p.sources.head.endOffset.toInt -> p).toMap
    val waits = for {
      (epoch, (committed, due)) <- received.epochs.asScala.toSeq
      (batch, rows) <- due
      allowed = firstEpoch(batch + 1)
    } yield (
      epoch - allowed.batchId,
      committed - Instant.parse(allowed.timestamp).toEpochMilli,
      rows
    )
    if (waits.isEmpty) Nil
    else
      Seq(
        "unmatched_rows" -> waits.map(_._3).sum,
        "median_delay_batches" -> median(waits.map(w => (w._1, w._3))),
        "max_delay_batches" -> waits.map(_._1).max,
        "median_delay_ms" -> median(waits.map(w => (w._2, w._3))),
        "max_delay_ms" -> waits.map(_._2).max
      )
  }

  private def median(weighted: Seq[(Long, Long)]): Long = {
    val sorted = weighted.sorted
    val half = sorted.map(_._2).sum / 2
    sorted.zip(sorted.scanLeft(0L)(_ + _._2).tail).find(_._2 > half).get._1._1
  }
}
