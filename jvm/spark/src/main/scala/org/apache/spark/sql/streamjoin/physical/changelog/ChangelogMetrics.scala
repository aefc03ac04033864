package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.apache.spark.sql.streamjoin.shims.ProgressOfSpark

import io.streamjoin.join.changelog.ChangelogCounters
import io.streamjoin.join.changelog.ChangelogCounters.Count
import io.streamjoin.model.Side

/** What a changelog join tells of a batch, in Spark's user interface and in the query's progress. */
private[changelog] object ChangelogMetrics {

  private def name(count: Count, side: Side): String = count.name + side.name.capitalize

  /** What it tells of its own. */
  private val own: Seq[String] =
    Side.both.flatMap(side =>
      s"bufferedRows${side.name.capitalize}" +: Count.values.map(name(_, side))
    ) ++
      Seq("suppressedUpdates", "changesOut", "spilledBytes")

  /** What there is at the end of a batch, rather than what it did. */
  private val readings = Set("bufferedRowsLeft", "bufferedRowsRight", "spilledBytes")

  /** What Spark asks every stateful operator for, in the order of its report. */
  private val sparks: Seq[String] = Seq(
    "numTotalStateRows",
    "numUpdatedStateRows",
    "allUpdatesTimeMs",
    "numRemovedStateRows",
    "allRemovalsTimeMs",
    "commitTimeMs",
    "stateMemory",
    "numRowsDroppedByWatermark"
  )

  def create(context: SparkContext): Map[String, SQLMetric] =
    (Seq("numOutputRows", "numStateStoreInstances") ++ sparks ++ own).distinct.map { name =>
      name -> (
        if (name.endsWith("TimeMs")) SQLMetrics.createTimingMetric(context, name)
        else if (name == "stateMemory" || name == "spilledBytes")
          SQLMetrics.createSizeMetric(context, name)
        else SQLMetrics.createMetric(context, name)
      )
    }.toMap

  def counted(counters: ChangelogCounters): Map[String, Long] =
    (for (side <- Side.both; count <- Count.values)
      yield name(count, side) -> counters.rows(side, count)).toMap ++ Map(
      "numRemovedStateRows" -> Side.both.map { side =>
        counters.rows(side, ChangelogCounters.Deleted) +
          counters.rows(side, ChangelogCounters.Expired)
      }.sum,
      "suppressedUpdates" -> counters.suppressedUpdates,
      "changesOut" -> counters.changesOut
    )

  def progress(operator: String, value: String => Long, partitions: Int): StateOperatorProgress = {
    val custom = new java.util.HashMap[String, java.lang.Long]
    own.foreach(name => custom.put(name, value(name)))
    val numbers = sparks.map(value) ++ Seq(partitions.toLong, value("numStateStoreInstances"))
    ProgressOfSpark.of(operator, numbers, custom, readings)
  }
}
