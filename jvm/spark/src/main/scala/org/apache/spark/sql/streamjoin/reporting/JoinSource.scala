package org.apache.spark.sql.streamjoin.reporting

import com.codahale.metrics.{Gauge, MetricFilter, MetricRegistry}

import org.apache.spark.metrics.source.Source

import io.streamjoin.model.Side

/**
 * The figures of the joins of one run of a query, in Spark's metrics system: `streamjoin.<query>`, and
 * in it `<join>.<figure>`. Readings are of the last batch; counts are sums since the query started, so
 * that a rate can be made of them.
 */
private[reporting] final class JoinSource(query: String) extends Source {

  override val sourceName: String = s"streamjoin.$query"

  override val metricRegistry: MetricRegistry = new MetricRegistry

  @volatile private var values = Map.empty[String, Long]

  /** Figures that there were not before are registered; Spark's metrics system hears of them. */
  def add(report: JoinReport): Unit = {
    val now = report.metrics.map { case (metric, value) =>
      val name = s"${report.join}.$metric"
      name -> (if (JoinSource.isReading(metric)) value else values.getOrElse(name, 0L) + value)
    } ++ JoinSource.about(report).map { case (name, value) => s"${report.join}.$name" -> value }
    val added = now.keySet -- values.keySet
    values ++= now
    added.foreach { name =>
      val gauge: Gauge[Long] = () => values.getOrElse(name, 0L)
      metricRegistry.register(name, gauge)
    }
  }

  /** Its figures are no more, in Spark's metrics system either. */
  def clear(): Unit = metricRegistry.removeMatching(MetricFilter.ALL)
}

private[reporting] object JoinSource {

  private val readings = Set(
    "batch",
    "bufferedRowsLeft",
    "bufferedRowsRight",
    "spilledBytes",
    "numRowsTotal",
    "memoryUsedBytes",
    "closestMiss",
    "hotKeys"
  )

  private val ofColumns = Seq(
    "watermark.",
    "delay.",
    "lag.",
    "latestBy.",
    "disorder.",
    "lagForMost.",
    "lagForAll.",
    "disorderRows."
  )

  /** What tells which join it is; `inputs.<left>.<right>` is always 1, for its name is what it says. */
  private def about(report: JoinReport): Seq[(String, Long)] = Seq(
    "batch" -> report.batch,
    "unmatchedOnly" -> (if (report.names.unmatchedOnly) 1L else 0L)
  ) ++ report.aliases.map(a => s"inputs.${a(Side.Left)}.${a(Side.Right)}" -> 1L)

  /** Whether a figure says what there is, rather than what a batch did. */
  def isReading(metric: String): Boolean =
    readings(metric) || ofColumns.exists(metric.startsWith)
}
