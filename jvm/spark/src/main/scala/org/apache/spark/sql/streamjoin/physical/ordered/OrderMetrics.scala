package org.apache.spark.sql.streamjoin.physical.ordered

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{
  SQLMetric,
  SQLMetrics,
  SQLShuffleReadMetricsReporter,
  SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.shims.ProgressOfSpark

/** What an order tells of a batch, in Spark's user interface and in the query's progress. */
private[ordered] object OrderMetrics {

  private val readings = Set("heldRows", "spilledBytes")

  def create(context: SparkContext): Map[String, SQLMetric] = {
    def sum(name: String, text: String) = name -> SQLMetrics.createMetric(context, text)
    def time(name: String, text: String) = name -> SQLMetrics.createTimingMetric(context, text)
    def size(name: String, text: String) = name -> SQLMetrics.createSizeMetric(context, text)
    Map(
      sum("numOutputRows", "number of output rows"),
      sum("numRowsDroppedByWatermark", "number of rows which are dropped by watermark"),
      sum("numTotalStateRows", "number of rows in the state"),
      sum("numUpdatedStateRows", "number of rows written to the state"),
      sum("numRemovedStateRows", "number of rows of earlier batches that came out"),
      time("allUpdatesTimeMs", "time to hold rows back"),
      time("allRemovalsTimeMs", "time to remove"),
      time("commitTimeMs", "time to commit changes"),
      size("stateMemory", "memory used by state"),
      size("spilledBytes", "local disk used by state"),
      sum("numStateStoreInstances", "number of state store instances"),
      sum("heldRows", "rows held back"),
      sum("lateRows", "late rows"),
      sum("nullTimeRows", "rows without a time"),
      sum("aheadRows", "rows too far ahead"),
      size("dataSize", "data size")
    ) ++ SQLShuffleReadMetricsReporter.createShuffleReadMetrics(context) ++
      SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(context)
  }

  /** @param watermark by its name, as it is shown */
  def progress(
      operator: String,
      value: String => Long,
      watermark: Option[(String, Long)],
      partitions: Int
  ): StateOperatorProgress = {
    val custom = new java.util.HashMap[String, java.lang.Long]
    for (name <- Seq("heldRows", "lateRows", "nullTimeRows", "aheadRows", "spilledBytes"))
      custom.put(name, value(name))
    watermark.foreach { case (name, reached) => custom.put(name, reached) }
    val numbers = Seq(
      "numTotalStateRows",
      "numUpdatedStateRows",
      "allUpdatesTimeMs",
      "numRemovedStateRows",
      "allRemovalsTimeMs",
      "commitTimeMs",
      "stateMemory",
      "numRowsDroppedByWatermark"
    ).map(value) ++ Seq(partitions.toLong, value("numStateStoreInstances"))
    ProgressOfSpark.of(operator, numbers, custom, watermark.map(_._1).toSet ++ readings)
  }
}
