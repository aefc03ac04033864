package org.apache.spark.sql.streamjoin.physical.stateful

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.spark.ProgressOfSpark

/**
 * A figure that an operator tells of a batch, summed over all partitions.
 *
 * @param name in the query's progress
 * @param text in Spark's user interface
 * @param isReading whether it says what there is at the end of a batch, rather than what the batch did
 */
private[physical] final case class Figure(name: String, text: String, isReading: Boolean = false)

/**
 * What a stateful operator tells of a batch, in Spark's user interface and in the query's progress: what
 * Spark asks every such operator for, the bytes on the local disk, and figures of its own.
 */
private[physical] final class OperatorMetrics(own: Seq[Figure]) {
  import OperatorMetrics._

  /** Those that the progress shows as the operator's own. */
  def names: Seq[String] = (own :+ Spilled).map(_.name)

  def create(context: SparkContext): Map[String, SQLMetric] = {
    def sums(figures: Seq[Figure]) =
      figures.map(f => f.name -> SQLMetrics.createMetric(context, f.text))
    def times(figures: Seq[Figure]) =
      figures.map(f => f.name -> SQLMetrics.createTimingMetric(context, f.text))
    def sizes(figures: Seq[Figure]) =
      figures.map(f => f.name -> SQLMetrics.createSizeMetric(context, f.text))
    (sums(Emitted +: Stores +: (Rows ++ own)) ++ times(Times) ++ sizes(Seq(Memory, Spilled))).toMap
  }

  /**
   * @param value of a figure by its name
   * @param more other readings by name, as they are shown: watermarks above all
   * @param extremes other figures of the batch, by name
   */
  def progress(
      operator: String,
      value: String => Long,
      more: Map[String, Long],
      extremes: Map[String, Long],
      partitions: Int
  ): StateOperatorProgress = {
    val custom = new java.util.HashMap[String, java.lang.Long]
    (own :+ Spilled).foreach(f => custom.put(f.name, value(f.name)))
    (more ++ extremes).foreach { case (name, value) => custom.put(name, value) }
    val readings = (own :+ Spilled).filter(_.isReading).map(_.name).toSet
    ProgressOfSpark.of(
      operator,
      asked.map(value) ++ Seq(partitions.toLong, value(Stores.name)),
      custom,
      readings ++ more.keySet
    )
  }
}

private[physical] object OperatorMetrics {

  private val Emitted = Figure("numOutputRows", "number of output rows")
  private val Stores = Figure("numStateStoreInstances", "number of state store instances")
  private val Memory = Figure("stateMemory", "memory used by state")
  private val Spilled = Figure("spilledBytes", "local disk used by state", isReading = true)

  private val Rows = Seq(
    Figure("numTotalStateRows", "number of rows in the state"),
    Figure("numUpdatedStateRows", "number of rows written to the state"),
    Figure("numRemovedStateRows", "number of rows removed from the state"),
    Figure("numRowsDroppedByWatermark", "number of rows which are dropped by watermark")
  )

  private val Times = Seq(
    Figure("allUpdatesTimeMs", "time to process rows"),
    Figure("allRemovalsTimeMs", "time to remove"),
    Figure("commitTimeMs", "time to commit changes")
  )

  /** What Spark asks for, in the order of its report. */
  private val asked = Seq(
    "numTotalStateRows",
    "numUpdatedStateRows",
    "allUpdatesTimeMs",
    "numRemovedStateRows",
    "allRemovalsTimeMs",
    "commitTimeMs",
    "stateMemory",
    "numRowsDroppedByWatermark"
  )
}
