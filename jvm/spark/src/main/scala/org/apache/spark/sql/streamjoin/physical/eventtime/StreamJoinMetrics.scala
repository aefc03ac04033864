package org.apache.spark.sql.streamjoin.physical.eventtime

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.conditions.TimeUnit
import org.apache.spark.sql.streamjoin.shims.ProgressOfSpark

import io.streamjoin.model.Watermarks

/** What a join tells of a batch, in Spark's user interface and in the query's progress. */
private[physical] object StreamJoinMetrics {

  /** Counts of one batch over all partitions. */
  private val counts: Seq[(String, String)] = Seq(
    "lateRowsLeft" -> "late rows, left",
    "lateRowsRight" -> "late rows, right",
    "aheadRowsLeft" -> "rows too far ahead, left",
    "aheadRowsRight" -> "rows too far ahead, right",
    "bufferedRowsLeft" -> "buffered rows, left",
    "bufferedRowsRight" -> "buffered rows, right",
    "evictedRowsLeft" -> "evicted rows, left",
    "evictedRowsRight" -> "evicted rows, right",
    "nullTimeRowsLeft" -> "rows without a time, left",
    "nullTimeRowsRight" -> "rows without a time, right",
    "nullPaddedRows" -> "rows given out without a match"
  )

  /** What there is at the end of a batch, rather than what it did. */
  private val readings = Set("bufferedRowsLeft", "bufferedRowsRight", "spilledBytes")

  def create(context: SparkContext): Map[String, SQLMetric] = {
    def sum(name: String, text: String) = name -> SQLMetrics.createMetric(context, text)
    def time(name: String, text: String) = name -> SQLMetrics.createTimingMetric(context, text)
    Map(
      sum("numOutputRows", "number of output rows"),
      sum("numRowsDroppedByWatermark", "number of rows which are dropped by watermark"),
      sum("numTotalStateRows", "number of buffered rows"),
      sum("numUpdatedStateRows", "number of rows written to the state"),
      sum("numRemovedStateRows", "number of rows evicted"),
      time("allUpdatesTimeMs", "time to join"),
      time("allRemovalsTimeMs", "time to remove"),
      time("commitTimeMs", "time to commit changes"),
      "stateMemory" -> SQLMetrics.createSizeMetric(context, "memory used by state"),
      "spilledBytes" -> SQLMetrics.createSizeMetric(context, "local disk used by state"),
      sum("numStateStoreInstances", "number of state store instances")
    ) ++ counts.map { case (name, text) => sum(name, text) }
  }

  def progress(
      operator: String,
      value: String => Long,
      watermarks: Map[String, Long],
      partitions: Int
  ): StateOperatorProgress = {
    val custom = new java.util.HashMap[String, java.lang.Long]
    counts.foreach { case (name, _) => custom.put(name, value(name)) }
    custom.put("spilledBytes", value("spilledBytes"))
    watermarks.foreach { case (name, watermark) => custom.put(name, watermark) }
    val numbers = Seq(
      value("numTotalStateRows"),
      value("numUpdatedStateRows"),
      value("allUpdatesTimeMs"),
      value("numRemovedStateRows"),
      value("allRemovalsTimeMs"),
      value("commitTimeMs"),
      value("stateMemory"),
      value("numRowsDroppedByWatermark"),
      partitions.toLong,
      value("numStateStoreInstances")
    )
    ProgressOfSpark.of(operator, numbers, custom, watermarks.keySet ++ readings)
  }

  /** The watermarks received so far, as shown: `watermark.<column>` in milliseconds, or the number. */
  def watermarks(spec: StreamJoinSpec, received: Array[Long]): Map[String, Long] =
    (for {
      (name, column) <- names(spec)
      unit <- TimeUnit.of(spec.times(column).dataType)
      if received(column) != Watermarks.Unknown
    } yield s"watermark.$name" -> unit.shown(received(column))).toMap

  /** The column; with the alias or the side before it where two columns have one name. */
  def names(spec: StreamJoinSpec): Seq[(String, Int)] = {
    val columns = spec.bounds.columns.indices.filter(spec.bounds.columns(_).watermarked)
    def plain(i: Int) = spec.times(i) match {
      case a: Attribute => a.name
      case other        => other.sql
    }
    def qualified(i: Int) = spec.bounds.columns(i).name
    def sided(i: Int) = s"${spec.bounds.columns(i).side.name}.${qualified(i)}"
    columns.map { i =>
      val name =
        if (columns.count(plain(_) == plain(i)) == 1) plain(i)
        else if (columns.count(qualified(_) == qualified(i)) == 1) qualified(i)
        else sided(i)
      name -> i
    }
  }
}
