package org.apache.spark.sql.streamjoin.physical.stateful.shown

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.spark.SparkFactories

import io.streamjoin.model.Side

/**
 * A metric of a batch, summed over all partitions.
 *
 * @param name its name in the progress of the query
 * @param text its name in Spark's user interface
 * @param isReading whether it is a gauge at the end of the batch, rather than a counter of the
 *   batch
 */
private[physical] final case class Figure(name: String, text: String, isReading: Boolean = false) {

  /** The metric of one input. */
  def of(side: Side): Figure =
    copy(name = name + side.name.capitalize, text = s"$text, ${side.name}")
}

private[physical] object Figure {

  /** The rows of an input in the state. */
  val Buffered: Figure = Figure("bufferedRows", "buffered rows", isReading = true)

  /** The rows of an input that are too far ahead. */
  val Ahead: Figure = Figure("aheadRows", "rows too far ahead")
}

/**
 * Metrics of a stateful operator, in Spark's user interface and in the progress of the query:
 *
 *  - the metrics that Spark requires of every stateful operator
 *  - the bytes on the local disk
 *  - metrics of the operator itself
 */
private[physical] final class OperatorMetrics(own: Seq[Figure]) {
  import OperatorMetrics._

  /** The names of the metrics that Spark's report does not define. */
  def names: Seq[String] = (own :+ Spilled).map(_.name)

  def create(context: SparkContext): Map[String, SQLMetric] = {
    val sums = Emitted +: Stores +: (Rows ++ own)
    (sums.map(f => f.name -> SQLMetrics.createMetric(context, f.text)) ++
      Times.map(f => f.name -> SQLMetrics.createTimingMetric(context, f.text)) ++
      Seq(Memory, Spilled).map(f => f.name -> SQLMetrics.createSizeMetric(context, f.text))).toMap
  }

  /**
   * Creates the report of a batch.
   *
   * @param value returns the value of a metric by its name
   * @param more further gauges by name, mainly watermarks
   * @param extremes further metrics of the batch, by name
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
    SparkFactories.progress(operator, value, partitions, custom, readings ++ more.keySet)
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
}
